import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import { send } from '#platform/net/outbound/send.ts';
import { addressOf } from '#resources/registry/modules/document.ts';
import type { Module } from '#resources/registry/modules/records.ts';
import type { Release } from './release.ts';

/** Declarations of a module of the public registry (Terraform: module registry protocol, details of a module). */

const registry = 'https://registry.terraform.io';

/** Some modules have hundreds of submodules and examples, which the registry describes too. */
const maxBytes = 5 * 1024 * 1024;

const description = v.optional(v.nullable(v.string()), '');
const details = v.object({
  version: v.string(),
  root: v.object({
    inputs: v.array(
      v.object({
        name: v.string(),
        type: v.optional(v.string(), ''),
        description,
        default: v.optional(v.nullable(v.string()), ''),
        required: v.boolean(),
      }),
    ),
    outputs: v.array(v.object({ name: v.string(), description })),
  }),
});

const releaseIn = (text: string): Release | undefined => {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), details), text);
  if (!success) return undefined;
  const { version, root } = output;
  return {
    version,
    root: {
      inputs: root.inputs.map(({ type, description: about, default: usual, ...input }) => ({
        ...input,
        type: type || 'any',
        description: about ?? '',
        default: usual || 'null',
      })),
      // The registry does not say which are sensitive, and Terraform refuses to show a sensitive one as another.
      outputs: root.outputs.map((output) => ({
        name: output.name,
        description: output.description ?? '',
        sensitive: true,
      })),
    },
  };
};

/**
 * 1 request. @param version absent: the latest
 * @returns undefined when the registry has no such version @throws {ApiError} 422 when it does not answer
 */
export const publicRelease = async (module: Module, version?: string): Promise<Release | undefined> => {
  const parts = [module.namespace, module.name, module.provider, ...(version ? [version] : [])];
  const url = `${registry}/v1/modules/${parts.map(encodeURIComponent).join('/')}`;
  const failed = (reason: string) =>
    unprocessable('/data', `${addressOf(module)} could not be read from ${registry}: ${reason}. Try again later`);
  const answer = await send({ method: 'GET', url, headers: { accept: 'application/json' } }, { maxBytes }).catch(
    (error) => {
      throw error instanceof OutboundError ? failed(error.message) : error;
    },
  );
  if (answer.status === 404) return undefined;
  const release = answer.status === 200 ? releaseIn(answer.body.toString('utf8')) : undefined;
  if (!release) throw failed(answer.status === 200 ? 'its answer is not understood' : `it answered ${answer.status}`);
  return release;
};
