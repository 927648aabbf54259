import type { Command } from './arguments.ts';
import { access } from './commands/access.ts';
import { actCommands } from './commands/act.ts';
import { agent } from './commands/agent.ts';
import { api } from './commands/api.ts';
import { exportCommand } from './commands/export.ts';
import { githubAppCommands } from './commands/github-app.ts';
import { importCommand } from './commands/import.ts';
import { importAtlantis } from './commands/import-atlantis.ts';
import { init } from './commands/init.ts';
import { loginCommands } from './commands/login.ts';
import { logs } from './commands/logs.ts';
import { open } from './commands/open.ts';
import { platformCommands } from './commands/platform.ts';
import { projectCommands } from './commands/projects.ts';
import { repositoryCommands } from './commands/repositories.ts';
import { runCommands } from './commands/runs.ts';
import { start, watch } from './commands/start.ts';
import { stateCommands } from './commands/state.ts';
import { status } from './commands/status.ts';
import { variableCommands } from './commands/variables.ts';
import { versionControlCommands } from './commands/version-control.ts';
import { workspaceSettingCommands } from './commands/workspace-settings.ts';
import { workspaceCommands } from './commands/workspaces.ts';
import { wrongUsage } from './exit.ts';
import { nearest } from './nearest-word.ts';
import { program } from './program.ts';

/** All commands, by subject, in the order of the help. */
export const subjects: Record<string, Command[]> = {
  'Sign in': loginCommands,
  Runs: [status, ...runCommands, start, watch, logs, ...actCommands, open],
  Workspaces: [init, ...workspaceCommands, ...workspaceSettingCommands, ...projectCommands],
  Variables: variableCommands,
  States: stateCommands,
  'Version control': [...versionControlCommands, ...repositoryCommands],
  Organizations: [access, importCommand, importAtlantis, exportCommand],
  API: [api],
  Platform: [...platformCommands, ...githubAppCommands, agent],
};

export const commands: Command[] = Object.values(subjects).flat();

export const groupOf = (word: string): Command[] => commands.filter(({ name }) => name.startsWith(`${word} `));

/**
 * The command at the start of the arguments, and the remaining arguments. Undefined for a group without a subcommand.
 * @throws {CommandError}
 */
export const findCommand = (args: string[]): { command: Command; rest: string[] } | undefined => {
  const [first = '', second = ''] = args;
  const single = commands.find(({ name }) => name === first);
  if (single) return { command: single, rest: args.slice(1) };
  const group = groupOf(first);
  const command = group.find(({ name }) => name === `${first} ${second}`);
  if (command) return { command: command, rest: args.slice(2) };
  if (group.length && (second === '' || second.startsWith('-'))) return undefined;
  const [typed, help, words] = group.length
    ? [`${first} ${second}`, `${first} --help`, group.map(({ name }) => name)]
    : [first, '--help', [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]];
  // `stepform confirm`
  const whole = commands.find(({ name }) => name.split(' ')[1] === first)?.name;
  const similar = whole ?? nearest(typed, words);
  const advice = similar ? `Did you mean: ${program} ${similar}` : `See: ${program} ${help}`;
  throw wrongUsage(`Unknown command: ${program} ${typed}. ${advice}`);
};
