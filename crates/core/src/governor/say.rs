//! What a limit says to a person.

use super::PauseReason;
use crate::lang::{Lang, Say};
use crate::tr;

impl Say for PauseReason {
    fn say(&self, lang: Lang) -> String {
        match self {
            PauseReason::Spend => tr!(
                lang,
                "the account has no money left for the agent, and waiting does not change that; add credit or raise the spend limit, then go on with `ralph resume`",
                "帳戶已沒有可供代理使用的額度，等待也無法改變；請儲值或調高支出上限，再以 `ralph resume` 繼續",
                "账户已没有可供代理使用的余额，等待也无法改变；请充值或调高支出上限，再用 `ralph resume` 继续",
            ),
            PauseReason::Admin => tr!(
                lang,
                "the account may not use the agent, and waiting does not change that; ask the administrator of the organisation, then go on with `ralph resume`",
                "此帳戶不得使用該代理，等待也無法改變；請洽組織的管理員，再以 `ralph resume` 繼續",
                "此账户不得使用该代理，等待也无法改变；请联系组织的管理员，再用 `ralph resume` 继续",
            ),
            PauseReason::Auth => tr!(
                lang,
                "the agent is not logged in or its key is not accepted; log in or set the key, then go on with `ralph resume`",
                "代理尚未登入，或其金鑰不被接受；請登入或設定金鑰，再以 `ralph resume` 繼續",
                "代理尚未登录，或其密钥不被接受；请登录或设置密钥，再用 `ralph resume` 继续",
            ),
            PauseReason::Plan => tr!(
                lang,
                "the plan of the account does not include what was asked for; choose another model (agent.model) or change the plan, then go on with `ralph resume`",
                "帳戶的方案不包含所要求的項目；請改用其他模型（agent.model）或變更方案，再以 `ralph resume` 繼續",
                "账户的套餐不包含所要求的内容；请改用其他模型（agent.model）或更换套餐，再用 `ralph resume` 继续",
            ),
        }
    }
}
