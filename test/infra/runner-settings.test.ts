import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stackWith } from './stack-with.ts';

const deployed = (context: Record<string, unknown>) => {
  const { app, ...made } = stackWith(context);
  const template = made.template();
  const [definition] = Object.values(template.findResources('AWS::ECS::TaskDefinition'));
  const manifest = app.synth().artifacts.find(({ id }) => id === `${made.stack.artifactId}.assets`)?.manifest
    .properties as {
    file: string;
  };
  const assets = JSON.parse(readFileSync(join(app.outdir, manifest.file), 'utf8')) as {
    dockerImages: Record<string, { source: { platform: string } }>;
  };
  return {
    processor: definition?.Properties.RuntimePlatform.CpuArchitecture as string,
    image: Object.values(assets.dockerImages).map(({ source }) => source.platform),
    publicIp: ['PlanQueued', 'ApplyQueued', 'Sweep'].map(
      (id) => template.toJSON().Resources[`${id}Function`].Properties.Environment.Variables.ASSIGN_PUBLIC_IP,
    ),
  };
};

const network = { vpcId: 'vpc-0a1b2c3d', subnetIds: 'subnet-0a1b2c3d' };
const onAll = (value: string) => Array<string>(3).fill(value);

it('runners use x86_64 by default, regardless of the machine that deploys, and get a public address in a new network', () => {
  const { arch } = process;
  Object.defineProperty(process, 'arch', { value: 'arm64' });
  try {
    expect(deployed({})).toEqual({ processor: 'X86_64', image: ['linux/amd64'], publicIp: onAll('true') });
  } finally {
    Object.defineProperty(process, 'arch', { value: arch });
  }
});

it('runners use the configured processor architecture, and get a public address in an existing network on request', () => {
  expect(deployed({ ...network, runnerArchitecture: 'arm64' })).toEqual({
    processor: 'ARM64',
    image: ['linux/arm64'],
    publicIp: onAll('false'),
  });
  expect(deployed({ ...network, runnerArchitecture: 'x86_64', runnerPublicIp: 'true' })).toEqual({
    processor: 'X86_64',
    image: ['linux/amd64'],
    publicIp: onAll('true'),
  });
});
