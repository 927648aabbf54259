import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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

export const baseImagesFile = join(import.meta.dirname, 'base-images.json');

export const baseImages = (): BaseImages => JSON.parse(readFileSync(baseImagesFile, 'utf8')) as BaseImages;

/** Without the tag if there is a digest: ECS takes either (ECS API: ContainerDefinition, image). */
export const referenceOf = ({ repository, tag, digest }: BaseImage): string =>
  digest ? `${repository}@${digest}` : `${repository}:${tag}`;
