            Event::End => {
                match last {
                    Some(_) => self.orphan("the last thinking is sealed"),
                    None => self.orphan("there is no thinking"),
                }
            }

            Event::Start { id } => {
                let input = Input::new();
                self.called(id, input)
            }
