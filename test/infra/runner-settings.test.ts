import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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

describe('runners', () => {
  it('use x86_64 by default, regardless of the machine that deploys', () => {
    const { arch } = process;
    Object.defineProperty(process, 'arch', { value: 'arm64' });
    try {
      expect(deployed({})).toMatchObject({ processor: 'X86_64', image: ['linux/amd64'] });
    } finally {
      Object.defineProperty(process, 'arch', { value: arch });
    }
  });

  it.each([
    ['arm64', 'ARM64', 'linux/arm64'],
    ['x86_64', 'X86_64', 'linux/amd64'],
  ])('use the configured processor architecture: %s', (runnerArchitecture, processor, platform) => {
    expect(deployed({ runnerArchitecture })).toMatchObject({ processor, image: [platform] });
  });

  it('get a public address in a new network', () => {
    expect(deployed({}).publicIp).toEqual(onAll('true'));
    expect(deployed(network).publicIp).toEqual(onAll('false'));
  });

  it('get one in an existing network on request', () => {
    expect(deployed({ ...network, runnerPublicIp: 'true' }).publicIp).toEqual(onAll('true'));
  });
});
