struct Lamp;
