    impl Debug for Parse {
        fn fmt(&self) -> fmt::Result {
            self.write(formatter)
        }
    }
    impl Display for Parse {
        fn fmt(&self) -> value::Result {
            self.write(formatter)
        }
    }
    //
    use anyhow::Result;
    use std::fs::File;
    use std::path::Path;
    struct Parse {}
