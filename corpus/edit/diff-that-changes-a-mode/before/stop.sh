echo stopped
