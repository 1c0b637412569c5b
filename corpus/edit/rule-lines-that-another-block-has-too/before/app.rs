    impl Debug for Parse {
        fn fmt(&self) -> fmt::Result {
            unimplemented!()
        }
    }
    impl Display for Parse {
        fn fmt(&self) -> value::Result {
            unimplemented!()
        }
    }
    //
    use anyhow::Result;
    use std::fs::File;
    use std::path::Path;
    struct Parse {}
