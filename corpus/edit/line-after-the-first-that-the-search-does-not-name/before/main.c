int main()
{
    int a = read();
    int b = a * 2;
    write(b);
    flush();
}

int other()
{
    close();
}
