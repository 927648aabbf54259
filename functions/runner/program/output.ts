import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { ApplyProgress, type ProgressLine } from '#run/apply-progress.ts';
import { type FailedCheck, maxCheckMessage, maxFailedChecks } from '#run/health-record.ts';
import type { Counts } from '#run/phase-report.ts';

/** The parts of Terraform's output that belong in the report. */

const maxLine = 64 * 1024;
const maxErrors = 3;
const maxMessage = 600;
const maxDetail = 200;
/** Of the explanation that is read: more than is shown, so that a secret is masked as a whole before the rest is cut. */
const maxParagraph = 8192;

/** The heading of errors that follow. */
const frame = /encountered problems during initiali[sz]ation/;

/**
 * The provider call that makes a change, in Terraform's error if the provider did not respond (1.11: grpc_error.go).
 */
const unanswered = 'GRPCProvider).ApplyResourceChange';

/** An emergency state dump in a JSON line (1.11: json_view.go). */
const jsonDump = /"@message":"Emergency state dump",.*"state":(\{.*\}),"type":"log"\}$/;

interface Problem {
  summary: string;
  /** The first paragraph of the explanation, in the lines of the output. */
  detail?: string;
  /** Resource that it is about. */
  address?: string;
  place?: string;
  /** Name of the check block that it is in. */
  check?: string;
}

/** `Resource precondition failed: Only eu is allowed here (terraform_data.a, main.tf line 6)` */
const inWords = ({ summary, detail, address, place }: Required<Problem>): string => {
  const why = detail.replace(/\.$/, '');
  const text = why.length > maxDetail ? `${why.slice(0, maxDetail)}…` : why;
  const where = [address, place].filter(Boolean).join(', ');
  return `${summary}${text && !summary.endsWith(text) ? `: ${text}` : ''}${where ? ` (${where})` : ''}`;
};

interface JsonLine extends ProgressLine {
  diagnostic?: {
    severity?: string;
    summary?: string;
    detail?: string;
    address?: string;
    snippet?: { context?: string | null };
    range?: { filename?: string; start?: { line?: number } };
  };
  changes?: { add?: number; change?: number; remove?: number; import?: number; operation?: string };
}

const countsByVerb: Record<string, keyof Counts> = {
  Creation: 'additions',
  Modifications: 'changes',
  Destruction: 'destructions',
  Import: 'imports',
  create: 'additions',
  update: 'changes',
  delete: 'destructions',
};

const maxKept = 200;

const keep = (problems: Problem[], problem: Problem): void => {
  if (problems.length < maxKept) problems.push(problem);
};

/** Reads text and JSON output, line by line. */
export class OutputReader {
  readonly progress = new ApplyProgress();
  /** A provider crashed during a change. Terraform does not know whether it was made. */
  lostChange = false;
  /** The state that Terraform prints if it cannot write it to a file. */
  dumpedState: string | undefined;
  #dump: string[] | undefined;
  readonly #masked: (text: string) => string;
  readonly #decoder = new StringDecoder('utf8');
  readonly #problems: Problem[] = [];
  readonly #warnings: Problem[] = [];
  readonly #counted: Counts = { additions: 0, changes: 0, destructions: 0, imports: 0 };
  #summary: Counts | undefined;
  #line = '';
  /** The error or warning whose location and explanation may still follow, in text. */
  #open: Problem | undefined;

  /** @param masked replaces sensitive values */
  constructor(masked: (text: string) => string = (text) => text) {
    this.#masked = masked;
  }

  push(bytes: Buffer): void {
    const lines = (this.#line + this.#decoder.write(bytes)).split('\n');
    this.#line = (lines.pop() ?? '').slice(-maxLine);
    for (const line of lines) this.#read(line);
  }

  /** Counts of the apply: from Terraform's summary, or of the resources that it reported before it stopped. */
  get applied(): Counts {
    return this.#summary ?? this.#counted;
  }

  /** The first errors in a sentence; undefined if Terraform printed none. */
  get failure(): string | undefined {
    if (this.#problems.length === 0) return undefined;
    const telling = this.#problems.filter(({ summary }) => !frame.test(summary));
    const texts = (telling.length ? telling : this.#problems).map((problem) => inWords(this.#shown(problem)));
    return `${[...new Set(texts)].slice(0, maxErrors).join('; ')}.`.slice(0, maxMessage);
  }

  /** Check blocks whose conditions do not hold, with their messages. */
  get failedChecks(): FailedCheck[] {
    const failed = this.#warnings
      .map((warning) => this.#shown(warning))
      .flatMap(({ check, detail, summary }) =>
        check
          ? [
              {
                address: `check.${check}`.slice(0, maxCheckMessage),
                message: (detail || summary).slice(0, maxCheckMessage),
              },
            ]
          : [],
      );
    const unique = new Map(failed.map((one) => [`${one.address} ${one.message}`, one]));
    return [...unique.values()].slice(0, maxFailedChecks);
  }

  /** Masked as a whole and in one line, before anything is cut. */
  #shown(problem: Problem): Required<Problem> {
    const { summary, detail = '', address = '', place = '', check = '' } = problem;
    const shown = (text: string) => this.#masked(text).replaceAll('\n', ' ');
    return {
      summary: shown(summary),
      detail: shown(detail),
      address: shown(address),
      place: shown(place),
      check: shown(check),
    };
  }

  #read(raw: string): void {
    this.#readDump(raw);
    if (raw.startsWith('{"@level"')) {
      this.dumpedState = jsonDump.exec(raw)?.[1] ?? this.dumpedState;
      try {
        this.#readJson(JSON.parse(raw) as JsonLine);
      } catch {
        // Truncated JSON, or the output of another program.
      }
      return;
    }
    this.#readText(stripVTControlCharacters(raw).trimEnd());
  }

  #readDump(raw: string): void {
    if (raw === '{') this.#dump = [];
    this.#dump?.push(raw);
    if (this.#dump?.length === 2 && !/^ {2}"version": 4,$/.test(raw)) this.#dump = undefined;
    if (raw !== '}' || !this.#dump) return;
    this.dumpedState = this.#dump.join('\n');
    this.#dump = undefined;
  }

  #readText(line: string): void {
    this.progress.readText(line, Date.now());
    if (line.includes(unanswered) && !/\((local|remote)-exec\): /.test(line)) this.lostChange = true;
    const [, severity, heading = ''] = /^[│|]?\s*(Error|Warning): (.+)$/.exec(line) ?? [];
    if (severity) {
      this.#open = { summary: heading.trim() };
      keep(severity === 'Error' ? this.#problems : this.#warnings, this.#open);
      return;
    }
    if (this.#open) this.#readMore(this.#open, line.replace(/^[│|] ?/, ''));
    const completed = /^[^\s(].*: (Creation|Modifications|Destruction|Import) complete/.exec(line);
    if (completed && !line.includes(' (local-exec): ') && !line.includes(' (remote-exec): '))
      this.#count(completed[1] as string);
    const summary =
      /^(?:Apply|Destroy) complete! Resources: (?:(\d+) imported, )?(?:(\d+) added, )?(?:(\d+) changed, )?(\d+) destroyed/.exec(
        line,
      );
    if (summary) {
      const [imported = 0, added = 0, changed = 0, destroyed = 0] = summary.slice(1).map((n) => Number(n ?? 0));
      this.#summary = {
        additions: added,
        changes: changed,
        destructions: destroyed,
        imports: imported,
      };
    }
  }

  /** A line of an error: indented ones say where, the first paragraph of the others why. */
  #readMore(problem: Problem, line: string): void {
    const isEnd = line.startsWith('╵') || (line === '' && problem.detail !== undefined);
    if (isEnd || (problem.detail?.length ?? 0) > maxParagraph) this.#open = undefined;
    else if (/^\S/.test(line)) problem.detail = [problem.detail, line].filter(Boolean).join('\n');
    const [, address] = /^\s+with (.+),$/.exec(line) ?? [];
    const [, file, at] = /^\s+on (.+?) line (\d+)/.exec(line) ?? [];
    if (address) problem.address = address;
    if (file && at) problem.place ??= placed(file, at);
    problem.check ??= /, in check "([^"]+)":$/.exec(line)?.[1];
  }

  #readJson(line: JsonLine): void {
    const { type, diagnostic, changes, hook } = line;
    this.progress.readJson(line, Date.now());
    if (type === 'diagnostic' && diagnostic) {
      const { filename, start } = diagnostic.range ?? {};
      if (diagnostic.severity === 'error' && diagnostic.detail?.includes(unanswered)) this.lostChange = true;
      keep(diagnostic.severity === 'error' ? this.#problems : this.#warnings, {
        summary: (diagnostic.summary ?? 'error').trim(),
        detail: diagnostic.detail?.trim().split('\n\n')[0],
        address: diagnostic.address,
        place: filename ? placed(filename, String(start?.line ?? '')) : undefined,
        check: /^check "([^"]+)"$/.exec(diagnostic.snippet?.context ?? '')?.[1],
      });
    }
    if (type === 'apply_complete' && hook?.action) this.#count(hook.action);
    if (type === 'change_summary' && changes && changes.operation !== 'plan') {
      this.#summary = {
        additions: changes.add ?? 0,
        changes: changes.change ?? 0,
        destructions: changes.remove ?? 0,
        imports: changes.import ?? 0,
      };
    }
  }

  #count(action: string): void {
    const key = countsByVerb[action];
    if (key) this.#counted[key]++;
  }
}

/** Path as the configuration's author knows it: variable files are next to the configuration. */
const placed = (file: string, line: string): string => `${file.replace(/^(\.\.\/)+/, '')} line ${line}`;
