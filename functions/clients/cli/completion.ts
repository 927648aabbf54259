import { type Command, type Option, optionsOf } from './arguments.ts';

/**
 * Shell completion scripts. They contain all commands and options, so that completing needs no process and no request.
 */

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

interface Word {
  word: string;
  about: string;
  /** Subcommands; empty for a command without any. */
  next: Word[];
  options: [string, Option][];
}

const builtIn: Word[] = [
  { word: 'help', about: 'show help on a command', next: [], options: [] },
  { word: 'version', about: 'print the version', next: [], options: [] },
  {
    word: 'completion',
    about: 'print a script that completes commands in your shell',
    next: shells.map((word) => ({ word, about: `for ${word}`, next: [], options: [] })),
    options: [],
  },
];

const treeOf = (commands: Command[]): Word[] => {
  const groups = Map.groupBy(commands, ({ name }) => name.split(' ')[0] ?? '');
  const words = [...groups].map(([word, members]): Word => {
    const [only] = members;
    if (only?.name === word) return { word, about: only.about, next: [], options: Object.entries(optionsOf(only)) };
    const next = members.map((command) => ({
      word: command.name.slice(word.length + 1),
      about: command.about,
      next: [],
      options: Object.entries(optionsOf(command)),
    }));
    return { word, about: `${next.map((subcommand) => subcommand.word).join(', ')}`, next, options: [] };
  });
  return [...words, ...builtIn];
};

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const list = (words: string[]): string => quoted(words.join(' '));

/** Values of options with a fixed set, by option: the same in every command. */
const choicesOf = (tree: Word[]): [string, readonly string[]][] => [
  ...new Map(
    tree
      .flatMap(({ next, options }) => [...options, ...next.flatMap((subcommand) => subcommand.options)])
      .flatMap(([name, { choices }]): [string, readonly string[]][] => (choices ? [[name, choices]] : [])),
  ),
];

const optionWords = (options: [string, Option][]): string[] =>
  options.flatMap(([name, { short }]) => (short ? [`--${name}`, `-${short}`] : [`--${name}`]));

const bash = (tree: Word[]): string => {
  const cases = tree.flatMap(({ word, next, options }) => {
    if (next.length === 0) return [`    ${word}) words=${list(optionWords(options))} ;;`];
    return [
      `    ${word})`,
      `      if [ "$COMP_CWORD" -eq 2 ]; then words=${list(next.map((subcommand) => subcommand.word))}; else`,
      '        case "$second" in',
      ...next.map((one) => `          ${one.word}) words=${list(optionWords(one.options))} ;;`),
      '        esac',
      '      fi ;;',
    ];
  });
  return `# source <(stepform completion bash)
_stepform() {
  local current="\${COMP_WORDS[COMP_CWORD]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" words=''
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${choicesOf(tree)
  .map(([name, values]) => `    --${name}) words=${list([...values])} ;;`)
  .join('\n')}
  esac
  if [ -n "$words" ]; then :; elif [ "$COMP_CWORD" -eq 1 ]; then words=${list(tree.map(({ word }) => word))}; else
    case "$first" in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _stepform stepform
`;
};

const described = (word: string, about: string): string => quoted(`${word}:${about.replaceAll(':', '\\:')}`);

const zsh = (tree: Word[]): string => {
  const items = (words: { word: string; about: string }[]) =>
    `items=(${words.map(({ word, about }) => described(word, about)).join(' ')})`;
  const optionItems = (options: [string, Option][]) =>
    items(options.map(([name, { about }]) => ({ word: `--${name}`, about })));
  const cases = tree.flatMap(({ word, next, options }) => {
    if (next.length === 0) return [`${word}) ${optionItems(options)} ;;`];
    return [
      `${word})`,
      `  if (( CURRENT == 3 )); then ${items(next)}; else`,
      '    case $words[3] in',
      ...next.map((subcommand) => `      ${subcommand.word}) ${optionItems(subcommand.options)} ;;`),
      '    esac',
      '  fi ;;',
    ];
  });
  return `#compdef stepform
# source <(stepform completion zsh)
_stepform() {
  local -a items
  case $words[CURRENT-1] in
${choicesOf(tree)
  .map(([name, values]) => `    --${name}) compadd -- ${values.join(' ')}; return ;;`)
  .join('\n')}
  esac
  if (( CURRENT == 2 )); then ${items(tree)}; else
    case $words[2] in
${cases.map((line) => `      ${line}`).join('\n')}
    esac
  fi
  _describe stepform items || _files
}
compdef _stepform stepform
`;
};

const fish = (tree: Word[]): string => {
  const option = (condition: string, [name, { about, value, short, choices }]: [string, Option]) =>
    `complete -c stepform -n ${quoted(condition)} -l ${name}${short ? ` -s ${short}` : ''}${value ? ' -r' : ''}${choices ? ` -f -a ${list([...choices])}` : ''} -d ${quoted(about)}`;
  const lines = tree.flatMap(({ word, about, next, options }) => {
    const typed = `__fish_seen_subcommand_from ${word}`;
    const words = next.map((subcommand) => subcommand.word).join(' ');
    return [
      `complete -c stepform -n __fish_use_subcommand -a ${word} -d ${quoted(about)}`,
      ...options.map((entry) => option(typed, entry)),
      ...next.flatMap((subcommand) => [
        `complete -c stepform -n ${quoted(`${typed}; and not __fish_seen_subcommand_from ${words}`)} -a ${subcommand.word} -d ${quoted(subcommand.about)}`,
        ...subcommand.options.map((entry) =>
          option(`${typed}; and __fish_seen_subcommand_from ${subcommand.word}`, entry),
        ),
      ]),
    ];
  });
  return `# stepform completion fish | source\ncomplete -c stepform -f\n${lines.join('\n')}\n`;
};

const writers: Record<Shell, (tree: Word[]) => string> = { bash, zsh, fish };

export const isShell = (word: string | undefined): word is Shell =>
  (shells as readonly (string | undefined)[]).includes(word);

export const completionScript = (shell: Shell, commands: Command[]): string => writers[shell](treeOf(commands));
