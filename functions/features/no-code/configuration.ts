import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { tarBlocks } from '#platform/formats/tar-writer.ts';
import { putObject } from '#platform/store/bucket.ts';
import { newId } from '#platform/store/id.ts';
import { objects } from '#platform/store/keys.ts';
import { adoptArchive, becomeCurrent, type ConfigurationVersion } from '#resources/configurations/records.ts';
import type { Module } from '#resources/registry/modules/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Release } from './release.ts';

/**
 * Generates the configuration of a workspace created from a module: one module block that passes all inputs and
 * outputs through.
 */

const variable = ({ name, type, description, default: usual, required, ...rest }: Release['root']['inputs'][number]) =>
  [
    `variable ${JSON.stringify(name)} {`,
    `  type = ${type}`,
    ...(description ? [`  description = ${quoted(description)}`] : []),
    // Copied verbatim, because a heredoc must not be indented.
    ...(required ? [] : [`  default = ${usual}`]),
    ...(rest.sensitive ? ['  sensitive = true'] : []),
    ...(rest.ephemeral ? ['  ephemeral = true'] : []),
    '}',
  ].join('\n');

/** An HCL string without interpolation. */
const quoted = (text: string): string =>
  JSON.stringify(text)
    // Keeps the escapes of the module's author; in a replacement, `$$` stands for `$`.
    .replaceAll(/([$%])\1\{/g, '$1{')
    .replaceAll(/([$%])\{/g, '$1$1{');

const output = (module: string, { name, description, sensitive }: Release['root']['outputs'][number]): string =>
  [
    `output ${JSON.stringify(name)} {`,
    `  value = module.${module}.${name}`,
    ...(description ? [`  description = ${quoted(description)}`] : []),
    ...(sensitive ? ['  sensitive = true'] : []),
    '}',
  ].join('\n');

/** Names of modules may start with a digit, names of blocks must not. */
const blockName = (name: string): string => (/^[A-Za-z_]/.test(name) ? name : `_${name}`);

/** In runs, this host name always refers to the platform; an address without one means the public registry. */
const sourceOf = ({ registry, namespace, name, provider }: Module): string =>
  `${registry === 'private' ? 'localterraform.com/' : ''}${namespace}/${name}/${provider}`;

export const generatedConfiguration = (module: Module, { version, root }: Release): string => {
  const block = blockName(module.name);
  const { inputs, outputs } = root;
  const passed = inputs.map(({ name }) => `  ${name} = var.${name}`);
  return [
    [
      `module "${block}" {`,
      `  source  = "${sourceOf(module)}"`,
      `  version = "${version}"`,
      ...(passed.length ? ['', ...passed] : []),
      '}',
    ].join('\n'),
    ...inputs.map(variable),
    // The root module cannot output an ephemeral value.
    ...outputs.filter(({ ephemeral }) => !ephemeral).map((declared) => output(block, declared)),
  ]
    .join('\n\n')
    .concat('\n');
};

/**
 * Stores a generated configuration as a configuration version of the workspace. 1 put, 3 writes, and 1 more if it
 * becomes the workspace's current one at once.
 * @param provisional whether the version becomes current only after a run with it succeeds
 */
export const storeConfiguration = async (
  { id: workspaceId, organization }: Workspace,
  text: string,
  { createdBy, provisional }: { createdBy: string; provisional: boolean },
): Promise<ConfigurationVersion> => {
  const archive = gzipSync(Buffer.concat(tarBlocks([{ path: 'main.tf', bytes: new TextEncoder().encode(text) }])));
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const key = objects.configuration(newId('cv'), sha256.slice(0, 32));
  await putObject(key, new Uint8Array(archive), 'application/gzip');
  const version = await adoptArchive(
    {
      organization,
      workspaceId,
      autoQueueRuns: false,
      speculative: false,
      provisional,
      source: 'tfe-module',
      createdBy,
    },
    { key, sha256 },
  );
  if (!provisional) await becomeCurrent(version);
  return version;
};
