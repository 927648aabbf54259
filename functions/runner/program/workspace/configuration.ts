import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PhaseError } from '../errors.ts';
import { readHcl } from '../terraform/hcl.ts';
import type { Folder } from './door.ts';

/** The parts of a root module that the runner reads before Terraform does. */
export interface RootModule {
  backends: { type: string; file: string; line?: number }[];
  /** Names of its variables. */
  variables: string[];
  /** Ephemeral variables: plans do not store their values, so an apply needs them again. */
  ephemeralVariables: string[];
  /** Names of the override files, in Terraform's order. */
  overrideFiles: string[];
}

type Engine = 'terraform' | 'tofu';

/** Editors' temporary files, which Terraform ignores too. */
const ignored = (name: string): boolean => /^\.|~$|^#.*#$/.test(name);
const overrides = /^(.*_)?override\.(tf|tofu)(\.json)?$/;

/** OpenTofu reads `x.tofu` instead of `x.tf`. */
const configurationFiles = (names: string[], engine: Engine): string[] =>
  names
    .filter((name) => !ignored(name))
    .filter((name) => {
      if (/\.tf(\.json)?$/.test(name)) return engine === 'terraform' || !names.includes(name.replace('.tf', '.tofu'));
      return engine === 'tofu' && /\.tofu(\.json)?$/.test(name);
    })
    .sort();

export const readRootModule = async (directory: string, engine: Engine): Promise<RootModule> => {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  const files = configurationFiles(names, engine);
  const module: RootModule = {
    backends: [],
    variables: [],
    ephemeralVariables: [],
    overrideFiles: files.filter((name) => overrides.test(name)),
  };
  const contents = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8').catch(() => '')));
  for (const [i, file] of files.entries()) {
    const text = contents[i] as string;
    if (file.endsWith('.json')) readJson(module, file, text);
    else readNative(module, file, text);
  }
  return module;
};

const readNative = (module: RootModule, file: string, text: string): void => {
  for (const block of readHcl(file, text).blocks) {
    if (block.type === 'terraform') {
      for (const { type, labels, line } of block.blocks) {
        if (type === 'backend') module.backends.push({ type: labels[0] ?? '', file, line });
      }
    }
    const [name] = block.labels;
    if (block.type !== 'variable' || !name) continue;
    module.variables.push(name);
    if (block.attributes.ephemeral === 'true') module.ephemeralVariables.push(name);
  }
};

/** In JSON a block is an object or an array of objects, and labels are keys (HCL JSON syntax specification). */
const bodies = (value: unknown): Record<string, unknown>[] =>
  (Array.isArray(value) ? value : [value]).filter((element) => typeof element === 'object' && element !== null);

const readJson = (module: RootModule, file: string, text: string): void => {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return;
  }
  for (const body of bodies(root)) {
    for (const settings of bodies(body.terraform)) {
      for (const backend of bodies(settings.backend)) {
        module.backends.push(...Object.keys(backend).map((type) => ({ type, file })));
      }
    }
    for (const variables of bodies(body.variable)) {
      for (const [name, declarations] of Object.entries(variables)) {
        module.variables.push(name);
        if (bodies(declarations).some(({ ephemeral }) => ephemeral === true)) module.ephemeralVariables.push(name);
      }
    }
  }
};

/**
 * Rejects other backends: the platform stores the workspace's state. A `cloud` block or backend "remote" means the
 * platform itself and is replaced; any other backend would store the state elsewhere.
 * @throws {PhaseError}
 */
export const refuseOtherBackends = ({ backends }: RootModule): void => {
  const foreign = backends.find(({ type }) => type !== 'remote');
  if (!foreign) return;
  const place = foreign.line ? `${foreign.file} line ${foreign.line}` : foreign.file;
  throw new PhaseError(
    `The configuration declares backend "${foreign.type}" (${place}), but this platform stores the workspace's state. ` +
      'Remove the block, or migrate its state first.',
  );
};

/** Terraform merges override files in the order of their names; the last one wins. */
const lastName = (files: string[]): string => {
  const name = 'zz_stepform_override.tf';
  const last = files.at(-1);
  return last === undefined || last < name
    ? name
    : `${last.replace(/_?override\.(tf|tofu)(\.json)?$/, '')}~_override.tf`;
};

/**
 * A backend that stores the state below a directory, in a subdirectory with the workspace's name.
 * @param states relative to the working directory, because plans store the path and another runner may apply them
 */
export const backendText = (states: string): string =>
  // `path` is used only by the workspace named "default".
  `terraform {
  backend "local" {
    path          = ${JSON.stringify(`${states}/default/terraform.tfstate`)}
    workspace_dir = ${JSON.stringify(states)}
  }
}
`;

/** Creates the link through which Terraform reads the backend's pipe. */
export const linkBackend = (pipe: string, directory: Folder, { overrideFiles }: RootModule): void =>
  directory.link(lastName(overrideFiles), pipe);

/**
 * Writes a plain file instead of a pipe, for the two commands that read the recorded plan at the same time: they
 * evaluate no configuration, so the file need not be hidden from it.
 */
export const writeBackend = (text: string, directory: Folder, { overrideFiles }: RootModule): void =>
  directory.write(lastName(overrideFiles), text, 0o644);
