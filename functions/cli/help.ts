import { type Command, general, type Option } from './arguments.ts';
import { exitMeanings } from './exit.ts';
import { bold, dim } from './paint.ts';
import { program } from './program.ts';
import { columns } from './terminal.ts';

/** Help that makes a manual unnecessary. */

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
    ...columns(Object.entries({ ...command.options, ...general }).map(optionRow)),
    ...(command.more ? ['', command.more] : []),
  ].join('\n');

export const groupHelp = (group: string, commands: Command[]): string =>
  [
    ...columns(commands.map((command) => [`  ${usage(command)}`, dim(command.about)])),
    '',
    `Options of each: ${program} ${group} <command> --help`,
  ].join('\n');

export const exitHelp = (): string =>
  [
    'stepform ends with',
    '',
    ...columns(exitMeanings.map(([code, meaning]) => [`  ${String(code).padStart(3)}`, meaning])),
  ].join('\n');

export const jsonHelp = (): string => `\
With --json a command prints one document to standard output, in which everything is named as in the API (HCP Terraform API v2):

  data        what was asked for or made: a resource, with id, type, attributes, relationships; or a list of them
  included    what belongs to it, where it comes along: plan and apply of a run, runs of workspaces
  errors      instead, when it failed: status (of HTTP), title, detail; and exit-code

login, logout and open print a few facts that the API does not know: host, username, url. state pull prints the state.
runs watch, and runs start --watch, print one object a line while the run goes on: ${program} runs watch --help

  ${program} runs list --json | jq -r '.data[] | [.id, .attributes.status] | @tsv'`;

export const generalHelp = (commands: Command[]): string =>
  [
    `${bold('stepform')}: runs, states and variables of a stepform platform, from a terminal`,
    '',
    ...columns(commands.map((command) => [`  ${usage(command)}`, dim(command.about)])),
    '',
    `Options of each: ${program} <command> --help. All take --json (${program} help json). Exit codes for CI: ${program} help exit-codes. Version: ${program} --version`,
    'Which platform, organization and workspace: what the options say, else TFE_ADDRESS (with TFE_TOKEN), else the folder’s cloud',
    'block, else the platform on this machine (npm start). Tokens are those of terraform login.',
    '',
    `Begin with:  ${program} login <host>          then, in a folder with Terraform files:  ${program} runs start --watch`,
  ].join('\n');
