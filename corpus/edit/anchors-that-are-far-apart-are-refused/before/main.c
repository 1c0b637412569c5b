void report(const char *path)
{
    open_report(path);
    header(title);
    row(1, first);
    row(2, second);
    row(3, third);
    row(4, fourth);
    row(5, fifth);
    close_report(path);
}
