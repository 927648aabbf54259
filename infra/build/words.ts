import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Part of `npm run check`: finds words that usually make a sentence unclear, in comments, texts and Markdown. Searches
 * the whole text of a file, so that names of variables, JSX and templates need no parser.
 */

/** Each word with a replacement. A space also matches a line break inside a comment or between two concatenated strings. */
const riddles: [pattern: string, instead: string][] = [
  ['nobody', 'name who cannot do it ("no user can …"), or what is missing ("without a reviewer")'],
  ['somebody|anybody', 'name the person: a user, a member, the caller, the operator'],
  ['whoever|who may', 'name the person and the permission: "users with permission to read the state"'],
  ['whatever', 'name the cases, or write "any" or "regardless of"'],
  ['(?:is|are|was|were|be|been|being) (?:told|asked)', 'active: who sends or requests what ("notifies the run")'],
  // Allowed in questions: "What is waiting for me?"
  ['what is(?![^.;\\n]*\\?)', 'name the thing: "the remaining steps", "uploaded content"'],
  ['go on|goes on|going on', 'continues, runs, resumes, is in progress'],
  ['of which|of whom', 'two sentences, or "whose"'],
  ['hears? of', 'receives, is notified of, finds out'],
  [
    '(?:it|platform|machine|server|queue|run|runner|agent|page) (?:says|wants|thinks|believes|hopes)',
    'what the program does: contains, reports, requires, assumes',
  ],
];

/** At most twenty in the whole tree. */
const exceptions: { file: string; phrase: string; reason: string }[] = [];

/** The checker and its test contain every word. */
const exempt = ['infra/build/words.ts', 'test/infra/words.test.ts'];

const gap = '(?:\\s+(?:(?:\\*|//)\\s+)?|\\s*[\'"`]\\s*\\+\\s*[\'"`]\\s*)';

const patterns = riddles.map(([pattern, instead]) => ({
  // Calls and properties are code, which this does not check.
  pattern: new RegExp(`(?<!\\.)\\b(?:${pattern.replaceAll(' ', gap)})\\b(?!\\()`, 'gi'),
  instead,
}));

export interface Finding {
  file: string;
  line: number;
  /** As written, on one line. */
  word: string;
  instead: string;
}

/** Findings in one file, in the order of `riddles`. */
export const riddlesIn = (file: string, text: string): Finding[] =>
  patterns.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(({ 0: word, index }) => ({
      file,
      line: text.slice(0, index).split('\n').length,
      word: word.replace(/\s+(?:(?:\*|\/\/)\s+)?/g, ' '),
      instead,
    })),
  );

const root = join(import.meta.dirname, '../..');

/** Paths from the root, with `/`. Decisions are immutable records: only their index is checked. */
const checkedFiles = (): string[] =>
  globSync(['*.md', '.ci/*', '{functions,infra,test}/**/*.{ts,tsx,mjs,css,md}'], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.startsWith('infra/decisions/') || file === 'infra/decisions/README.md')
    .filter((file) => !exempt.includes(file) && !file.includes('/node_modules/'))
    .sort();

const main = (): void => {
  const unused = new Set(exceptions);
  const findings = checkedFiles().flatMap((file) => {
    let text = readFileSync(join(root, file), 'utf8');
    for (const exception of exceptions.filter((one) => one.file === file && text.includes(one.phrase))) {
      unused.delete(exception);
      text = text.replaceAll(exception.phrase, '');
    }
    return riddlesIn(file, text);
  });
  for (const { file, line, word, instead } of findings) console.error(`${file}:${line} "${word}": ${instead}`);
  for (const { file, phrase } of unused)
    console.error(`${file}: remove the exception "${phrase}", which matches nothing`);
  if (exceptions.length > 20) console.error(`${exceptions.length} exceptions: at most 20 are allowed`);
  if (findings.length + unused.size > 0 || exceptions.length > 20) process.exitCode = 1;
};

if (import.meta.main) main();
