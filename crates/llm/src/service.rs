//! The providers that can be named, as data.

use genai::adapter::AdapterKind;

/// The day the models below were last compared with what the providers offer.
pub const DATE: &str = "2026-11-15";

/// A provider: how it is spoken to, where it is, where its key comes from.
#[derive(Debug)]
pub struct Service {
    pub name: &'static str,
    /// Variables that may hold its key, the first one first. Empty: it needs none.
    pub keys: &'static [&'static str],
    /// The variable that may hold another address, in the form its own SDK takes.
    pub base: Option<&'static str>,
    /// Strong, default, cheap.
    pub models: Option<[&'static str; 3]>,
    /// Keeps to a JSON schema that comes with the request.
    pub schema: bool,
    pub(crate) kind: AdapterKind,
    pub(crate) wire: Wire,
    /// Its address, with what its API's version adds.
    pub(crate) address: &'static str,
    /// What its SDK adds to the address in the variable.
    pub(crate) version: &'static str,
    /// It wants its plain reasoning back with the calls that came of it.
    pub(crate) reasons_aloud: bool,
}

/// The shape of requests and replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Chat Completions, and all who followed.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Gemini's generateContent.
    Gemini,
}

/// All of them; `auto` takes them in this order.
pub fn services() -> &'static [Service] {
    &SERVICES
}

pub(crate) fn find(name: &str) -> Option<&'static Service> {
    SERVICES.iter().find(|service| service.name == name)
}

/// A further service of the Chat Completions kind.
const fn chat(
    name: &'static str,
    kind: AdapterKind,
    keys: &'static [&'static str],
    address: &'static str,
) -> Service {
    Service {
        name,
        keys,
        base: None,
        models: None,
        schema: false,
        kind,
        wire: Wire::Chat,
        address,
        version: "",
        reasons_aloud: false,
    }
}

const OPENAI: Service = Service {
    base: Some("OPENAI_BASE_URL"),
    models: Some(["gpt-6-sol", "gpt-5", "gpt-5-mini"]),
    schema: true,
    ..chat("openai", AdapterKind::OpenAI, &["OPENAI_API_KEY"], "https://api.openai.com/v1/")
};

static SERVICES: [Service; 26] = [
    Service {
        base: Some("ANTHROPIC_BASE_URL"),
        models: Some(["claude-opus-5-5", "claude-sonnet-5", "claude-haiku-4-5"]),
        schema: true,
        wire: Wire::Messages,
        version: "v1/",
        ..chat(
            "anthropic",
            AdapterKind::Anthropic,
            &["ANTHROPIC_API_KEY"],
            "https://api.anthropic.com/v1/",
        )
    },
    OPENAI,
    Service {
        name: "openai-responses",
        kind: AdapterKind::OpenAIResp,
        wire: Wire::Responses,
        ..OPENAI
    },
    Service {
        base: Some("GOOGLE_GEMINI_BASE_URL"),
        models: Some(["gemini-2.5-pro", "gemini-2.5-pro", "gemini-2.5-flash"]),
        schema: true,
        wire: Wire::Gemini,
        version: "v1beta/",
        ..chat(
            "gemini",
            AdapterKind::Gemini,
            &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            "https://generativelanguage.googleapis.com/v1beta/",
        )
    },
    Service {
        base: Some("OPENROUTER_BASE_URL"),
        models: Some([
            "anthropic/claude-opus-5.5",
            "anthropic/claude-sonnet-5",
            "anthropic/claude-haiku-4.5",
        ]),
        schema: true,
        ..chat(
            "openrouter",
            AdapterKind::OpenRouter,
            &["OPENROUTER_API_KEY", "OPEN_ROUTER_API_KEY"],
            "https://openrouter.ai/api/v1/",
        )
    },
    Service {
        models: Some(["openai/gpt-oss-120b", "openai/gpt-oss-120b", "openai/gpt-oss-20b"]),
        schema: true,
        ..chat("groq", AdapterKind::Groq, &["GROQ_API_KEY"], "https://api.groq.com/openai/v1/")
    },
    Service {
        models: Some(["deepseek-reasoner", "deepseek-chat", "deepseek-chat"]),
        reasons_aloud: true,
        ..chat(
            "deepseek",
            AdapterKind::DeepSeek,
            &["DEEPSEEK_API_KEY"],
            "https://api.deepseek.com/v1/",
        )
    },
    Service {
        models: Some(["grok-4", "grok-4", "grok-4-fast"]),
        schema: true,
        ..chat("xai", AdapterKind::Xai, &["XAI_API_KEY"], "https://api.x.ai/v1/")
    },
    Service {
        models: Some(["mistral-large-latest", "mistral-large-latest", "mistral-small-latest"]),
        schema: true,
        reasons_aloud: true,
        ..chat("mistral", AdapterKind::Mistral, &["MISTRAL_API_KEY"], "https://api.mistral.ai/v1/")
    },
    chat(
        "fireworks",
        AdapterKind::Fireworks,
        &["FIREWORKS_API_KEY"],
        "https://api.fireworks.ai/inference/v1/",
    ),
    chat("together", AdapterKind::Together, &["TOGETHER_API_KEY"], "https://api.together.xyz/v1/"),
    Service {
        reasons_aloud: true,
        ..chat("kimi", AdapterKind::Kimi, &["KIMI_API_KEY"], "https://api.moonshot.ai/v1/")
    },
    Service {
        reasons_aloud: true,
        ..chat(
            "moonshot",
            AdapterKind::Moonshot,
            &["MOONSHOT_API_KEY"],
            "https://api.moonshot.cn/v1/",
        )
    },
    Service {
        wire: Wire::Messages,
        ..chat(
            "minimax",
            AdapterKind::MiniMax,
            &["MINIMAX_API_KEY"],
            "https://api.minimax.io/anthropic/v1/",
        )
    },
    Service {
        reasons_aloud: true,
        ..chat("zai", AdapterKind::OpenAI, &["ZAI_API_KEY"], "https://api.z.ai/api/paas/v4/")
    },
    chat(
        "bigmodel",
        AdapterKind::BigModel,
        &["BIGMODEL_API_KEY"],
        "https://open.bigmodel.cn/api/paas/v4/",
    ),
    chat(
        "aliyun",
        AdapterKind::Aliyun,
        &["ALIYUN_API_KEY", "DASHSCOPE_API_KEY"],
        "https://dashscope.aliyuncs.com/compatible-mode/v1/",
    ),
    chat(
        "qwen-cloud",
        AdapterKind::QwenCloud,
        &["QWEN_CLOUD_API_KEY"],
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/",
    ),
    chat("nebius", AdapterKind::Nebius, &["NEBIUS_API_KEY"], "https://api.studio.nebius.ai/v1/"),
    chat("aihubmix", AdapterKind::Aihubmix, &["AIHUBMIX_API_KEY"], "https://aihubmix.com/v1/"),
    chat(
        "atlascloud",
        AdapterKind::AtlasCloud,
        &["ATLASCLOUD_API_KEY"],
        "https://api.atlascloud.ai/v1/",
    ),
    chat(
        "requesty",
        AdapterKind::Requesty,
        &["REQUESTY_API_KEY"],
        "https://router.requesty.ai/v1/",
    ),
    chat("runcrate", AdapterKind::Runcrate, &["RUNCRATE_API_KEY"], "https://api.runcrate.ai/v1/"),
    chat("cloudgpu", AdapterKind::CloudGpu, &["CLOUDGPU_API_KEY"], "https://cloudgpu.app/v1/"),
    chat("mimo", AdapterKind::Mimo, &["MIMO_API_KEY"], "https://api.mimo.com/openai/v1/"),
    // Through its Chat Completions: genai's own adapter for it drops a schema, keeps one result of several calls
    // and draws call ids at random.
    Service {
        base: Some("OLLAMA_HOST"),
        schema: true,
        version: "v1/",
        ..chat("ollama", AdapterKind::OpenAI, &[], "http://127.0.0.1:11434/v1/")
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sequester_core::price::PRICES;

    use super::*;

    #[test]
    fn every_service_has_a_name_of_its_own_and_an_address_that_can_be_joined() {
        let names: BTreeSet<&str> = SERVICES.iter().map(|service| service.name).collect();
        assert_eq!(names.len(), SERVICES.len());
        for service in &SERVICES {
            assert!(service.address.ends_with('/'), "{}", service.name);
            assert!(reqwest::Url::parse(service.address).is_ok(), "{}", service.name);
        }
    }

    #[test]
    fn the_default_models_of_the_first_providers_have_a_price() {
        for name in ["anthropic", "openai", "gemini"] {
            for model in find(name).unwrap().models.unwrap() {
                let full = format!("{name}/{model}");
                assert!(PRICES.iter().any(|price| price.model == full), "{full}");
            }
        }
    }
}
