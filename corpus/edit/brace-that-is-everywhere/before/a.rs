fn a() {
    if x {
    }
}
fn b() {
    if y {
    }
}
