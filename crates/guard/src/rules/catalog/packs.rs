//! Packs that can be switched off as a whole.

use super::{Example, Family, Pack, Rule, Text};

pub const RULES: &[Rule] = &[
    Rule {
        id: "publish.package",
        family: Family::Command,
        pack: Some(Pack::Publishing),
        off: false,
        reason: Text {
            en: "It publishes for everybody.",
            tw: "它會公開發布。",
            cn: "它会公开发布。",
        },
        hint: Text {
            en: "Try with --dry-run and leave publishing to a person.",
            tw: "請用 --dry-run 試行，發布留給人。",
            cn: "请用 --dry-run 试行，发布留给人。",
        },
        matches: &[
            Example::Bash("npm publish"),
            Example::Bash("cargo publish"),
            Example::Bash("twine upload dist/*"),
        ],
        not_matches: &[
            Example::Bash("npm publish --dry-run"),
            Example::Bash("npm run build"),
            Example::Bash("cargo package"),
        ],
    },
    Rule {
        id: "db.destroy",
        family: Family::Command,
        pack: Some(Pack::Database),
        off: false,
        reason: Text {
            en: "It drops or empties a database.",
            tw: "它會刪除或清空資料庫。",
            cn: "它会删除或清空数据库。",
        },
        hint: Text {
            en: "Work on a copy, or name the rows with WHERE.",
            tw: "請在副本上操作，或用 WHERE 指明資料列。",
            cn: "请在副本上操作，或用 WHERE 指明数据行。",
        },
        matches: &[
            Example::Bash("psql -c 'DROP TABLE users'"),
            Example::Bash("redis-cli FLUSHALL"),
            Example::Bash("dropdb app"),
        ],
        not_matches: &[
            Example::Bash("psql -c 'SELECT 1'"),
            Example::Bash("sqlite3 a.db 'DELETE FROM t WHERE id=1'"),
        ],
    },
    Rule {
        id: "container.destroy",
        family: Family::Command,
        pack: Some(Pack::Container),
        off: false,
        reason: Text {
            en: "It throws away containers' data.",
            tw: "它會丟棄容器的資料。",
            cn: "它会丢弃容器的数据。",
        },
        hint: Text {
            en: "Remove single containers or images by name.",
            tw: "請依名稱移除單一容器或映像。",
            cn: "请按名称移除单个容器或镜像。",
        },
        matches: &[
            Example::Bash("docker system prune -af"),
            Example::Bash("docker compose down -v"),
        ],
        not_matches: &[
            Example::Bash("docker ps"),
            Example::Bash("docker compose down"),
            Example::Bash("docker rm web"),
        ],
    },
    Rule {
        id: "container.escape",
        family: Family::Command,
        pack: Some(Pack::Container),
        off: false,
        reason: Text {
            en: "The container would get the machine.",
            tw: "容器會取得整台機器。",
            cn: "容器会取得整台机器。",
        },
        hint: Text {
            en: "Mount only the project and drop --privileged.",
            tw: "只掛載專案，並去掉 --privileged。",
            cn: "只挂载项目，并去掉 --privileged。",
        },
        matches: &[
            Example::Bash("docker run -v /:/host alpine"),
            Example::Bash("docker run --privileged alpine"),
        ],
        not_matches: &[Example::Bash(
            "docker run --rm -v $PWD:/app node:20 npm test",
        )],
    },
    Rule {
        id: "cloud.kubernetes",
        family: Family::Command,
        pack: Some(Pack::Cloud),
        off: false,
        reason: Text {
            en: "It deletes or drains in a cluster.",
            tw: "它會刪除或排空叢集資源。",
            cn: "它会删除或排空集群资源。",
        },
        hint: Text {
            en: "Try with --dry-run=client and leave it to a person.",
            tw: "請用 --dry-run=client 試行，其餘留給人。",
            cn: "请用 --dry-run=client 试行，其余留给人。",
        },
        matches: &[
            Example::Bash("kubectl delete ns prod"),
            Example::Bash("helm uninstall app"),
        ],
        not_matches: &[
            Example::Bash("kubectl get pods"),
            Example::Bash("kubectl delete pod x --dry-run=client"),
        ],
    },
    Rule {
        id: "cloud.destroy",
        family: Family::Command,
        pack: Some(Pack::Cloud),
        off: false,
        reason: Text {
            en: "It destroys infrastructure.",
            tw: "它會摧毀基礎設施。",
            cn: "它会摧毁基础设施。",
        },
        hint: Text {
            en: "Plan it (for example terraform plan) and leave it to a person.",
            tw: "請只做規劃（例如 terraform plan），其餘留給人。",
            cn: "请只做规划（例如 terraform plan），其余留给人。",
        },
        matches: &[
            Example::Bash("terraform destroy"),
            Example::Bash("aws s3 rm s3://bucket --recursive"),
        ],
        not_matches: &[Example::Bash("terraform plan"), Example::Bash("aws s3 ls")],
    },
];
