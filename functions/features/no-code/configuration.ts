import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { tarBlocks } from '#platform/formats/tar-writer.ts';
import { putObject } from '#platform/store/bucket.ts';
import { newId } from '#platform/store/id.ts';
import { objects } from '#platform/store/keys.ts';
import { adoptArchive, becomeCurrent, type ConfigurationVersion } from '#resources/configurations/records.ts';
import type { Module } from '#resources/registry/modules/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Release } from './versions.ts';

/** The configuration of a workspace that was made from a module: one module block, with everything passed through. */

const variable = ({ name, type, description, default: usual, required, ...rest }: Release['root']['inputs'][number]) =>
  [
    `variable ${JSON.stringify(name)} {`,
    `  type = ${type}`,
    ...(description ? [`  description = ${quoted(description)}`] : []),
    // As it stands in the module: a heredoc must not be indented.
    ...(required ? [] : [`  default = ${usual}`]),
    ...(rest.sensitive ? ['  sensitive = true'] : []),
    ...(rest.ephemeral ? ['  ephemeral = true'] : []),
    '}',
  ].join('\n');

/** An HCL string of which nothing is evaluated. */
const quoted = (text: string): string =>
  JSON.stringify(text)
    // As the module's author escaped it; and `$$` stands for `$` where text is replaced.
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

/** Names of modules may begin with a digit; names of blocks must not. */
const blockName = (name: string): string => (/^[A-Za-z_]/.test(name) ? name : `_${name}`);

export const generatedConfiguration = (module: Module, { version, root }: Release): string => {
  const block = blockName(module.name);
  const { inputs, outputs } = root;
  const passed = inputs.map(({ name }) => `  ${name} = var.${name}`);
  return [
    [
      `module "${block}" {`,
      // In runs it is the platform, whatever its host.
      `  source  = "localterraform.com/${module.namespace}/${module.name}/${module.provider}"`,
      `  version = "${version}"`,
      ...(passed.length ? ['', ...passed] : []),
      '}',
    ].join('\n'),
    ...inputs.map(variable),
    // An ephemeral value cannot leave the root module.
    ...outputs.filter(({ ephemeral }) => !ephemeral).map((declared) => output(block, declared)),
  ]
    .join('\n\n')
    .concat('\n');
};

/**
 * Stores it as a configuration version of the workspace. 1 put, 3 writes, 1 more where it is the workspace's at once.
 * @param provisional not before a run with it has ended well
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
