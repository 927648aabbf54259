import { type Command, type Option, optionsOf } from './arguments.ts';
import { exitMeanings } from './exit.ts';
import { bold, dim } from './paint.ts';
import { program } from './program.ts';
import { columns } from './terminal.ts';

/** The text of `stepform help` and `--help`. */

const optionRow = ([name, { about, value, short, multiple }]: [string, Option]): string[] => [
  `  ${short ? `-${short}, ` : '    '}--${name}${value ? ` <${value}>` : ''}${multiple ? ' …' : ''}`,
  dim(about),
];

const usage = ({ name, takes }: Command): string => `${program} ${name}${takes ? ` ${takes}` : ''}`;

export const commandHelp = (command: Command): string =>
  [
    `${bold(usage(command))}${' [options]'}`,
    command.about,
    '',
    ...columns(Object.entries(optionsOf(command)).map(optionRow)),
    ...(command.more ? ['', command.more] : []),
  ].join('\n');

export const groupHelp = (group: string, commands: Command[]): string =>
  [
    ...columns(commands.map((command) => [`  ${usage(command)}`, dim(command.about)])),
    '',
    `Options of a command: ${program} ${group} <command> --help`,
  ].join('\n');

export const exitHelp = (): string =>
  [
    'Exit codes of stepform',
    '',
    ...columns(exitMeanings.map(([code, meaning]) => [`  ${String(code).padStart(3)}`, meaning])),
  ].join('\n');

export const jsonHelp = (): string => `\
With --json, a command prints one JSON:API document (HCP Terraform API v2) to standard output:

  data        a resource with id, type, attributes and relationships; or a list of resources
  included    related resources, such as the plan and apply of a run
  errors      on failure: HTTP status, title and detail; with exit-code

login, logout and open print their own fields: host, username, url. state pull prints the state.
runs watch and runs start --watch print one object per line while the run is in progress: ${program} runs watch --help

  ${program} runs list --json | jq -r '.data[] | [.id, .attributes.status] | @tsv'`;

const getStarted = `Get started: ${program} login <host>, then in a folder with Terraform files: ${program} runs start --watch`;

/** First words of the commands, by subject. */
export const overview = (subjects: Record<string, Command[]>): string =>
  [
    `${bold('stepform')}: Terraform runs, states and variables from the terminal`,
    '',
    ...columns(
      Object.entries(subjects).map(([subject, commands]) => [
        `  ${subject}`,
        [...new Set(commands.map(({ name }) => name.split(' ')[0]))].join(', '),
      ]),
    ),
    '',
    getStarted,
    `All commands: ${program} help. Commands of one kind: ${program} runs --help`,
  ].join('\n');

export const generalHelp = (subjects: Record<string, Command[]>): string => {
  const width = Math.max(
    ...Object.values(subjects)
      .flat()
      .map((command) => usage(command).length),
  );
  return [
    ...Object.entries(subjects).flatMap(([subject, commands]) => [
      bold(subject),
      ...commands.map((command) => `  ${usage(command).padEnd(width)}  ${dim(command.about)}`),
      '',
    ]),
    `Options of a command: ${program} <command> --help. JSON output: ${program} help json. Exit codes: ${program} help exit-codes. Version: ${program} --version. Tab completion: ${program} completion bash, zsh or fish`,
    'Server, organization and workspace come from the options, else from TFE_ADDRESS (with TFE_TOKEN), else from the cloud block',
    'of the current folder, else from the local server (stepform start). Tokens are shared with terraform login.',
    '',
    getStarted,
  ].join('\n');
};
