//! Files that may contain a secret: reading them sends it to a provider.

/// Directories whose files are secret.
const DIRECTORIES: [&str; 5] = [".ssh", ".aws", ".gnupg", ".kube", ".azure"];
/// Names of secret files.
const NAMES: [&str; 13] = [
    ".npmrc",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".htpasswd",
    ".dockercfg",
    ".vault-token",
    ".terraformrc",
    "credentials",
    "secrets",
    "service-account",
];
/// Extensions of files that contain keys.
const EXTENSIONS: [&str; 9] = ["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "tfstate"];
/// Endings of names that mark a file as an example.
const EXAMPLES: [&str; 4] = ["example", "sample", "template", "dist"];

/// Whether a path looks like that of a file with secrets. Only the names count, not the content.
pub(super) fn is_secret(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, Some(extension)),
        _ => (name, None),
    };
    let is_data =
        extension.is_none_or(|extension| matches!(extension, "json" | "toml" | "yaml" | "yml" | "ini"));
    directories.split('/').any(|directory| DIRECTORIES.contains(&directory))
        || extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
        || NAMES.contains(&name)
        || is_data && NAMES.contains(&stem)
        || name.starts_with("id_") && extension.is_none()
        || is_environment(name)
}

/// `.env`, `.env.local`, `production.env`, but not `.env.example`.
fn is_environment(name: &str) -> bool {
    let is_one = name == ".env" || name.starts_with(".env.") || name.ends_with(".env");
    is_one && !EXAMPLES.iter().any(|example| name.ends_with(example))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_files_are_known_by_their_names() {
        let secret = [
            ".env",
            "app/.env.local",
            "production.env",
            "tls/server.pem",
            "server.KEY",
            "id_rsa",
            "home/.ssh/config",
            ".aws/credentials",
            "credentials.json",
            "deploy/secrets.yaml",
            ".npmrc",
            "sub/.netrc",
        ];
        for path in secret {
            assert!(is_secret(path), "{path}");
        }
        let open = [
            ".env.example",
            "src/key.rs",
            "id_map.rs",
            "id_rsa.pub",
            "src/credentials.rs",
            "keys.md",
            "aws/a",
            "a.environment",
        ];
        for path in open {
            assert!(!is_secret(path), "{path}");
        }
    }
}
