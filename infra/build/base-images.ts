import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#platform/program.ts';

/**
 * Public images that runners are built on, in base-images.json. A tag moves: two deployments of one commit could differ. So
 * each image has the digest that its tag had when `npm run base-images` was last run; without one (null) the tag is used.
 */

export interface BaseImage {
  /** With the registry's host. */
  repository: string;
  tag: string;
  /** `sha256:…`, of the image for all platforms. */
  digest: string | null;
}

export type BaseImages = Record<'node' | 'nodeSlim' | 'debian', BaseImage>;

/** By the root, because the construct of the package is one file elsewhere (package.ts). */
export const baseImagesFile = join(root, 'infra/build/base-images.json');

export const baseImages = (file = baseImagesFile): BaseImages => JSON.parse(readFileSync(file, 'utf8')) as BaseImages;

/** Without the tag if there is a digest: ECS takes either (ECS API: ContainerDefinition, image). */
export const referenceOf = ({ repository, tag, digest }: BaseImage): string =>
  digest ? `${repository}@${digest}` : `${repository}:${tag}`;
