// The requests to one daemon.

/// Why something is not known, in words for the reader.
export class Problem extends Error {
  constructor(message: string, readonly status = 0) {
    super(message);
  }
}

const kPatienceMs = 8000;
/// A stream has a comment every second.
const kSilenceMs = 8000;
/// What comes between two reads is read at once: a page of many fast streams wakes up rarely.
const kReadMs = 250;
const kFirstPauseMs = 500;
const kLongestPauseMs = 8000;
/// What saves work, and what a daemon of an earlier version refuses as a parameter that it does not know.
const kSavings = /[?&](hold_ms|max_age)=[^&]*/g;

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function errorOf(response: Response): Promise<Problem> {
  let reason = "";
  try {
    reason = String((JSON.parse(await response.text()) as {error?: unknown}).error ?? "");
  } catch {}
  return new Problem(reason || `the daemon answered ${response.status}`, response.status);
}

export class Server {
  private token: string | null = null;
  private asked: Promise<string> | null = null;
  /// It is of an earlier version.
  private isPlain = false;

  /// `origin`: "" is the daemon that served this page. `askForToken` is called where the daemon wants one: with why
  /// the last one was not taken, or "". The token goes to this origin alone.
  constructor(private readonly origin: string, private readonly askForToken: (reason: string) => Promise<string>) {}

  async json<T>(path: string): Promise<T> {
    return (await (await this.get(path)).json()) as T;
  }
  async text(path: string): Promise<string> {
    return (await this.get(path)).text();
  }

  /// Calls `line` with each line of a stream, and `ended` with the reason when it has ended; again and
  /// again, until `signal` ends all or the daemon has no such stream (404).
  async follow(
    path: string, signal: AbortSignal, line: (text: string) => void, ended: (reason: string) => void,
  ): Promise<void> {
    let pauseMs = kFirstPauseMs;
    while (!signal.aborted) {
      let reason = "the connection to the daemon was lost";
      let isServed = true;
      const stop = new AbortController();
      const end = () => stop.abort();
      signal.addEventListener("abort", end);
      let heardMs = performance.now();
      const watch = setInterval(() => (performance.now() - heardMs > kSilenceMs ? end() : undefined), 1000);
      try {
        const response = await this.get(path, stop.signal);
        const reader = response.body!.getReader();
        const decoder = new TextDecoder();
        let rest = "";
        for (;;) {
          const {value, done} = await reader.read();
          if (done) break;
          heardMs = performance.now();
          pauseMs = kFirstPauseMs;
          const lines = (rest + decoder.decode(value, {stream: true})).split("\n");
          rest = lines.pop() ?? "";
          // No event of the daemon is as long.
          if (rest.length > 65536) break;
          lines.forEach(line);
          await pause(kReadMs);
        }
      } catch (error) {
        if (error instanceof Problem) {
          reason = error.message;
          isServed = error.status !== 404;
        }
      }
      clearInterval(watch);
      signal.removeEventListener("abort", end);
      stop.abort();
      if (signal.aborted) return;
      ended(reason);
      if (!isServed) return;
      await pause(pauseMs * (0.75 + Math.random() / 2));
      pauseMs = Math.min(2 * pauseMs, kLongestPauseMs);
    }
  }

  private async get(path: string, signal?: AbortSignal): Promise<Response> {
    const plain = path.replace(kSavings, "");
    if (plain === path || this.isPlain) return this.request(plain, signal);
    try {
      return await this.request(path, signal);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 400) throw error;
      const response = await this.request(plain, signal);
      this.isPlain = true;
      return response;
    }
  }

  private async request(path: string, signal?: AbortSignal): Promise<Response> {
    for (let reason = ""; ;) {
      // It may have been aborted while the token was asked for.
      signal?.throwIfAborted();
      const token = this.token;
      try {
        const response = await fetch(this.origin + path, {
          signal: signal ?? AbortSignal.timeout(kPatienceMs), cache: "no-store", credentials: "omit", redirect: "error",
          headers: token === null ? {} : {Authorization: `Bearer ${token}`},
        });
        if (response.ok) return signal ? response : new Response(await response.text(), response);
        if (response.status !== 401) throw await errorOf(response);
        if (token !== null) reason = (await errorOf(response)).message;
      } catch (error) {
        if (error instanceof Problem) throw error;
        throw new Problem(this.origin === "" ? "the daemon does not answer"
          : "its daemon does not answer, or does not allow this page (--allow-dashboards)");
      }
      // Several requests find at the same time that a token is needed: it is asked for once.
      if (this.token === token) {
        this.asked ??= this.askForToken(reason).then((given) => {
          this.token = given;
          this.asked = null;
          return given;
        });
        await this.asked;
      }
    }
  }
}
