import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { Construct } from 'constructs';
import type { Settings } from '#infra/settings/settings.ts';
import { baseImages, referenceOf } from './base-images.ts';
import type { Bundles } from './bundle.ts';

/** Path of the program in each engine's own image. */
const engineImages = {
  terraform: { repository: 'docker.io/hashicorp/terraform', tag: (version: string) => version, path: '/bin/terraform' },
  tofu: {
    repository: 'ghcr.io/opentofu/opentofu',
    tag: (version: string) => `${version}-minimal`,
    path: '/usr/local/bin/tofu',
  },
};

/** Image and architecture of runners. */
export interface RunnerImage {
  uri: string;
  /** Repository of the account, if the image is built and pushed there. */
  repositoryArn?: string;
  /** Further properties of the container definition. */
  container: {
    user?: string;
    workingDirectory?: string;
    entryPoint?: string[];
    environment?: { name: string; value: string }[];
  };
  program?: RunnerProgram;
}

/** The runner's program in the bucket of CDK's assets, if the image does not contain it. */
export interface RunnerProgram {
  bucketName: string;
  /** Readable objects: this and earlier versions of the program, and nothing else in the bucket. */
  objectsArn: string;
}

export const runnerImage = (scope: Construct, settings: Settings, { runner, runnerArchive }: Bundles): RunnerImage =>
  settings.runnerImage ? publicImage(scope, settings.runnerImage, runnerArchive) : ownImage(scope, settings, runner);

/** @param bundle absolute path of the runner program; its folder is the image's build context */
const ownImage = (scope: Construct, settings: Settings, bundle: string): RunnerImage => {
  const engine = engineImages[settings.terraformEngine];
  const base = baseImages();
  const image = new DockerImageAsset(scope, 'Image', {
    directory: dirname(bundle),
    platform: settings.runnerArchitecture === 'arm64' ? Platform.LINUX_ARM64 : Platform.LINUX_AMD64,
    buildArgs: {
      ENGINE_IMAGE: `${engine.repository}:${engine.tag(settings.terraformVersion)}`,
      ENGINE_PATH: engine.path,
      NODE_IMAGE: referenceOf(base.nodeSlim),
      DEBIAN_IMAGE: referenceOf(base.debian),
    },
  });
  return { uri: image.imageUri, repositoryArn: image.repository.repositoryArn, container: {} };
};

/** A public image, unchanged, which downloads the program when it starts: nothing is built. */
const publicImage = (scope: Construct, uri: string, path: string): RunnerImage => {
  const asset = new Asset(scope, 'Program', { path });
  const environment = {
    STEPFORM_PROGRAM: asset.s3ObjectKey.split('.')[0] ?? '',
    STEPFORM_PROGRAM_SHA256: createHash('sha256').update(readFileSync(path)).digest('hex'),
  };
  const start = readFileSync(join(import.meta.dirname, '../../functions/runner/program/fetch-program.mjs'), 'utf8');
  return {
    uri,
    container: {
      user: '0',
      workingDirectory: '/tmp',
      entryPoint: ['node', '--disable-sigusr1', '--enable-source-maps', '--input-type=module', '--eval', start],
      environment: Object.entries(environment).map(([name, value]) => ({ name, value })),
    },
    program: { bucketName: asset.s3BucketName, objectsArn: asset.bucket.arnForObjects(`*${extname(path)}`) },
  };
};
