import { parse } from './arguments.ts';
import { commands, findCommand, groupOf, subjects } from './commands.ts';
import { completionScript, isShell, shells } from './completion.ts';
import { type ExitCode, exit, wrongUsage } from './exit.ts';
import { failureOf } from './failures.ts';
import { commandHelp, exitHelp, generalHelp, groupHelp, jsonHelp, overview } from './help.ts';
import { plain, red } from './paint.ts';
import { program, version } from './program.ts';
import { Session } from './session.ts';
import { print, printJson, say } from './terminal.ts';

/** `stepform`: the command line. */

const helpOn = (words: string[]): string => {
  if (words[0] === 'exit-codes') return exitHelp();
  if (words[0] === 'json') return jsonHelp();
  const match = words.length ? findCommand(words) : undefined;
  if (match) return commandHelp(match.command);
  return words[0] ? groupHelp(words[0], groupOf(words[0])) : generalHelp(subjects);
};

/** Session of the running command. */
let session: Session | undefined;

/** With --json or --output json, errors are JSON too. */
const wantsJson = (args: string[]): boolean =>
  args.some(
    (word, at) => /^--?(json|output=json)$/.test(word) || (/^--?output$/.test(word) && args[at + 1] === 'json'),
  );

const run = async (args: string[]): Promise<ExitCode> => {
  const [first] = args;
  if (first === undefined) {
    print(overview(subjects));
    return exit.done;
  }
  if (first === 'help' || first === '--help' || first === '-h') {
    print(helpOn(args.slice(1)));
    return exit.done;
  }
  if (first === '--version' || first === '-v' || first === 'version') {
    print(args.includes('--json') ? JSON.stringify({ version: version() }) : `stepform ${version()}`);
    return exit.done;
  }
  if (first === 'completion') {
    const [, shell] = args;
    if (!isShell(shell)) throw wrongUsage(`Give a shell: ${program} completion <${shells.join('|')}>`);
    print(completionScript(shell, commands).trimEnd());
    return exit.done;
  }
  const match = findCommand(args);
  if (!match) {
    print(helpOn([first]));
    return args.includes('--help') || args.includes('-h') ? exit.done : exit.usage;
  }
  const call = parse(match.command, match.rest);
  if (call.flag('help')) {
    print(commandHelp(match.command));
    return exit.done;
  }
  session = new Session(call);
  return (await match.command.run(call, session)) ?? exit.done;
};

// A closed pipe is not an error: `stepform runs list | head`.
process.stdout.on('error', () => process.exit(exit.done));

const args = process.argv.slice(2);
try {
  process.exitCode = await run(args);
} catch (error) {
  const { code, errors } = failureOf(error, session?.credentials);
  process.exitCode = code;
  if (wantsJson(args)) printJson({ errors, 'exit-code': code });
  else for (const { title, detail } of errors) if (title) say(`${red('✗')} ${plain(detail ?? title)}`);
}
