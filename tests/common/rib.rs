//! A reader and judge of the RIB that we write: tokens, requests, blocks, parameter lists, motion.
//!
//! It is written from the specification and not from the writer: The RenderMan Interface 3.2.1,
//! appendix C for the text, §5.5 and §6.1 for points and motion; for `Procedural2`, `Volume` and the
//! `Blobby` opcode 1004 from RenderMan's manual.

#![allow(dead_code)] // no test uses all of it

use std::collections::HashMap;

/// A word of the text.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Number(f32),
    Open,
    Close,
}

/// What follows a request's name.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number.
    Number(f32),
    /// A string.
    Text(String),
    /// An array of numbers, or an empty one.
    Numbers(Vec<f32>),
    /// An array of strings.
    Texts(Vec<String>),
}

impl Argument {
    /// The numbers of an array.
    pub fn numbers(&self) -> Result<&[f32], String> {
        match self {
            Self::Numbers(numbers) => Ok(numbers),
            other => Err(format!("an array of numbers was expected, not {other:?}")),
        }
    }

    /// The strings of an array.
    pub fn texts(&self) -> Result<&[String], String> {
        match self {
            Self::Texts(texts) => Ok(texts),
            other => Err(format!("an array of strings was expected, not {other:?}")),
        }
    }

    fn text(&self) -> Result<&str, String> {
        match self {
            Self::Text(text) => Ok(text),
            other => Err(format!("a string was expected, not {other:?}")),
        }
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its name.
    pub name: String,
    /// All that follows.
    pub arguments: Vec<Argument>,
}

/// Points at each of their times.
#[derive(Clone, Debug)]
pub struct PointsSamples {
    /// Times; a single 0 without motion.
    pub times: Vec<f32>,
    /// At each time, the values by name.
    pub samples: Vec<HashMap<String, Vec<f32>>>,
    /// `CLASS TYPE` by name.
    pub declarations: HashMap<String, String>,
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Points, in their order.
    pub points: Vec<PointsSamples>,
    /// `(file, bound)` of archives that are loaded later.
    pub archives: Vec<(String, [f32; 6])>,
    /// String arguments of `Blobby` requests.
    pub blobbies: Vec<Vec<String>>,
    /// String arguments and bounds of `Volume` requests.
    pub volumes: Vec<(Vec<String>, [f32; 6])>,
}

/// Reads a file and checks all that can be checked without a renderer.
pub fn check(bytes: &[u8]) -> Result<Contents, String> {
    let requests = requests(&tokens(bytes)?)?;
    let mut contents = Contents::default();
    let mut open: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < requests.len() {
        let request = &requests[at];
        at += 1;
        match request.name.as_str() {
            "version" | "Attribute" => {}
            "AttributeBegin" | "TransformBegin" => open.push(&request.name),
            "AttributeEnd" | "TransformEnd" => {
                let begin = request.name.replace("End", "Begin");
                if open.pop() != Some(begin.as_str()) {
                    return Err(format!("{} closes nothing", request.name));
                }
            }
            "MotionBegin" => {
                let times = first(request)?.numbers()?;
                if times.len() < 2 || times.windows(2).any(|t| t[0] >= t[1]) {
                    return Err(format!("times {times:?} do not rise"));
                }
                let end = requests[at..].iter().position(|r| r.name == "MotionEnd");
                let end = at + end.ok_or("a motion block is not closed")?;
                if end - at != times.len() {
                    return Err(format!("{} samples for {} times", end - at, times.len()));
                }
                contents.points.push(points(times, &requests[at..end])?);
                at = end + 1;
            }
            "Points" => contents.points.push(points(&[0.0], std::slice::from_ref(request))?),
            "Procedural2" => contents.archives.push(archive(request)?),
            "Blobby" => contents.blobbies.push(blobby(request)?),
            "Volume" => contents.volumes.push(volume(request)?),
            other => return Err(format!("unknown request {other}")),
        }
    }
    match open.pop() {
        Some(block) => Err(format!("{block} is not closed")),
        None => Ok(contents),
    }
}

fn first(request: &Request) -> Result<&Argument, String> {
    request.arguments.first().ok_or(format!("{} needs an argument", request.name))
}

fn points(times: &[f32], requests: &[Request]) -> Result<PointsSamples, String> {
    let mut all =
        PointsSamples { times: times.to_vec(), samples: Vec::new(), declarations: HashMap::new() };
    for request in requests {
        if request.name != "Points" {
            return Err(format!("{} among the samples of points", request.name));
        }
        let parameters = parameters(&request.arguments)?;
        let place = parameters.iter().find(|(d, _)| d.name == "P").ok_or("points without P")?;
        let count = place.1.numbers()?.len() / 3;
        let (mut sample, mut declarations) = (HashMap::new(), HashMap::new());
        for (declaration, value) in &parameters {
            let values = value.numbers()?;
            let each = match declaration.class.as_str() {
                "constant" | "uniform" => 1,
                "varying" | "vertex" => count,
                other => return Err(format!("no class {other}")),
            };
            if values.len() != each * declaration.size()? {
                let name = &declaration.name;
                return Err(format!("{name}: {} numbers for {count} points", values.len()));
            }
            if declaration.kind.starts_with("int") && values.iter().any(|v| v.fract() != 0.0) {
                return Err(format!("{}: not integers", declaration.name));
            }
            let kind = format!("{} {}", declaration.class, declaration.kind);
            if declarations.insert(declaration.name.clone(), kind).is_some() {
                return Err(format!("{} twice", declaration.name));
            }
            sample.insert(declaration.name.clone(), values.to_vec());
        }
        if sample.contains_key("width") == sample.contains_key("constantwidth") {
            return Err("points need either width or constantwidth".into());
        }
        if !all.samples.is_empty() && all.declarations != declarations {
            return Err("the samples of a motion block differ in more than numbers".into());
        }
        let same = |(n, v): (&String, &Vec<f32>)| all.samples[0][n].len() == v.len();
        if !all.samples.is_empty() && !sample.iter().all(same) {
            return Err("the samples of a motion block differ in length".into());
        }
        all.declarations = declarations;
        all.samples.push(sample);
    }
    Ok(all)
}

fn archive(request: &Request) -> Result<(String, [f32; 6]), String> {
    let [kind, how, rest @ ..] = &request.arguments[..] else {
        return Err("Procedural2 needs two names".into());
    };
    if (kind.text()?, how.text()?) != ("DelayedReadArchive2", "SimpleBound") {
        return Err(format!("Procedural2 of {kind:?} with {how:?}"));
    }
    let parameters = parameters(rest)?;
    let find = |name: &str, kind: &str| {
        let found = parameters.iter().find(|(d, _)| d.name == name && d.kind == kind);
        found.map(|(_, value)| value).ok_or(format!("Procedural2 without `{kind} {name}`"))
    };
    let file = find("filename", "string")?.texts()?;
    let [file] = file else { return Err("one file was expected".into()) };
    Ok((file.clone(), limits(find("bound", "float[6]")?)?))
}

fn blobby(request: &Request) -> Result<Vec<String>, String> {
    let [Argument::Number(leaves), code, floats, strings, rest @ ..] = &request.arguments[..]
    else {
        return Err("a Blobby is a number, code, floats and strings".into());
    };
    let (code, floats, strings) = (code.numbers()?, floats.numbers()?, strings.texts()?);
    let &[1004.0, plugin, float_count, float_start, count, start] = code else {
        return Err(format!("the code {code:?} is not a single field of a plugin"));
    };
    let ends = [plugin + 1.0, start + count].map(|end| end as usize);
    if ends.iter().any(|end| *end > strings.len()) || *leaves != 1.0 {
        return Err("the code names strings that are not there".into());
    }
    if (float_start + float_count) as usize > floats.len() {
        return Err("the code names floats that are not there".into());
    }
    parameters(rest)?;
    Ok(strings[start as usize..ends[1]].to_vec())
}

fn volume(request: &Request) -> Result<(Vec<String>, [f32; 6]), String> {
    let [kind, bound, size, rest @ ..] = &request.arguments[..] else {
        return Err("a Volume is a kind, a bound and a size".into());
    };
    if !kind.text()?.starts_with("blobbydso:") || size.numbers()? != [0.0; 3] {
        return Err(format!("a Volume of {kind:?} with {size:?}"));
    }
    let mut strings = Vec::new();
    for (declaration, value) in parameters(rest)? {
        if declaration.name == "blobbydso:stringargs" {
            strings = value.texts()?.to_vec();
            if declaration.kind != format!("string[{}]", strings.len()) {
                return Err(format!("{} strings declared as {}", strings.len(), declaration.kind));
            }
        } else if declaration.class != "varying" || !value.numbers()?.is_empty() {
            return Err(format!("{} has values of its own", declaration.name));
        }
    }
    Ok((strings, limits(bound)?))
}

fn limits(value: &Argument) -> Result<[f32; 6], String> {
    let limits = value.numbers()?;
    let limits: [f32; 6] = limits.try_into().map_err(|_| format!("{limits:?} is no box"))?;
    match limits.chunks(2).all(|ends| ends[0] <= ends[1]) {
        true => Ok(limits),
        false => Err(format!("the box {limits:?} ends before it begins")),
    }
}

/// `CLASS TYPE NAME`; without a class it is uniform.
struct Declaration {
    class: String,
    kind: String,
    name: String,
}

impl Declaration {
    fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (class, kind, name) = match words[..] {
            [class, kind, name] => (class, kind, name),
            [kind, name] => ("uniform", kind, name),
            _ => return Err(format!("`{text}` declares nothing")),
        };
        let [class, kind, name] = [class, kind, name].map(str::to_owned);
        Ok(Self { class, kind, name })
    }

    /// Numbers of one value.
    fn size(&self) -> Result<usize, String> {
        match self.kind.as_str() {
            "float" | "int" | "integer" => Ok(1),
            "point" | "vector" | "normal" | "color" => Ok(3),
            other => Err(format!("no type {other} of numbers")),
        }
    }
}

fn parameters(arguments: &[Argument]) -> Result<Vec<(Declaration, &Argument)>, String> {
    if !arguments.len().is_multiple_of(2) {
        return Err("a parameter list is pairs of a declaration and a value".into());
    }
    let pairs =
        arguments.chunks(2).map(|pair| Ok((Declaration::parse(pair[0].text()?)?, &pair[1])));
    pairs.collect()
}

fn requests(tokens: &[Token]) -> Result<Vec<Request>, String> {
    let mut requests: Vec<Request> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        at += 1;
        if let Token::Word(name) = token {
            requests.push(Request { name: name.clone(), arguments: Vec::new() });
            continue;
        }
        let last = requests.last_mut().ok_or("a value before any request")?;
        last.arguments.push(match token {
            Token::Number(number) => Argument::Number(*number),
            Token::Text(text) => Argument::Text(text.clone()),
            Token::Open => {
                let length = tokens[at..].iter().position(|t| *t == Token::Close);
                let end = at + length.ok_or("an array is not closed")?;
                let value = array(&tokens[at..end])?;
                at = end + 1;
                value
            }
            _ => return Err("`]` without `[`".into()),
        });
    }
    Ok(requests)
}

fn array(tokens: &[Token]) -> Result<Argument, String> {
    if let Some(Token::Text(_)) = tokens.first() {
        let text = |token: &Token| match token {
            Token::Text(text) => Ok(text.clone()),
            other => Err(format!("{other:?} in an array of strings")),
        };
        return Ok(Argument::Texts(tokens.iter().map(text).collect::<Result<_, _>>()?));
    }
    let number = |token: &Token| match token {
        Token::Number(number) => Ok(*number),
        other => Err(format!("{other:?} in an array of numbers")),
    };
    Ok(Argument::Numbers(tokens.iter().map(number).collect::<Result<_, _>>()?))
}

fn tokens(bytes: &[u8]) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let rest = &bytes[at..];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            b'#' => at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
            b'[' => {
                tokens.push(Token::Open);
                at += 1;
            }
            b']' => {
                tokens.push(Token::Close);
                at += 1;
            }
            b'"' => {
                let (text, length) = string(rest)?;
                tokens.push(Token::Text(text));
                at += length;
            }
            b'-' | b'+' | b'.' | b'0'..=b'9' => {
                let inside = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
                let length = rest.iter().position(|b| !inside(b)).unwrap_or(rest.len());
                let text = std::str::from_utf8(&rest[..length]).map_err(|e| e.to_string())?;
                let number: f32 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
                if !number.is_finite() {
                    return Err(format!("`{text}` is too large"));
                }
                tokens.push(Token::Number(number));
                at += length;
            }
            b'A'..=b'Z' | b'a'..=b'z' => {
                let inside = |b: &u8| b.is_ascii_alphanumeric();
                let length = rest.iter().position(|b| !inside(b)).unwrap_or(rest.len());
                tokens.push(Token::Word(String::from_utf8_lossy(&rest[..length]).into_owned()));
                at += length;
            }
            other => return Err(format!("byte {other} at {at} means nothing")),
        }
    }
    Ok(tokens)
}

/// A string and its length in the text.
fn string(text: &[u8]) -> Result<(String, usize), String> {
    let mut bytes = Vec::new();
    let mut at = 1;
    loop {
        let &byte = text.get(at).ok_or("a string is not closed")?;
        at += 1;
        match byte {
            b'"' => break,
            b'\\' => {
                let &next = text.get(at).ok_or("a string is not closed")?;
                if next.is_ascii_digit() {
                    let digits = text.get(at..at + 3).ok_or("a string is not closed")?;
                    let digits = std::str::from_utf8(digits).map_err(|e| e.to_string())?;
                    bytes.push(u8::from_str_radix(digits, 8).map_err(|e| e.to_string())?);
                    at += 3;
                } else {
                    bytes.push(next);
                    at += 1;
                }
            }
            b' '..=b'~' => bytes.push(byte),
            other => return Err(format!("byte {other} in a string")),
        }
    }
    Ok((String::from_utf8(bytes).map_err(|e| e.to_string())?, at))
}
