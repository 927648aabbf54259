import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { baseImages, referenceOf } from '#infra/build/base-images.ts';
import { synthesize } from '#infra/build/synth.ts';
import { packedOnce } from '#test/support/install-package.ts';

/**
 * The steps of the Dockerfiles without Docker: as root on Linux, in a copy of this machine's files that ends with the test (an
 * overlay in a mount namespace). Its Node, Terraform and packages stand for those of the base images;
 * `STEPFORM_IMAGE_PACKAGES=apt` also installs the packages.
 */

const scratch = mkdtempSync(join(tmpdir(), 'stepform-images-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const installs = process.env.STEPFORM_IMAGE_PACKAGES === 'apt';

const overlay = `
set -e
cd ${scratch}
mount -t tmpfs none . && cd ${scratch} && mkdir upper work image
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work image
mount --rbind /dev image/dev && mount -t proc proc image/proc && mount -t tmpfs none image/tmp
# Other folders of this machine may be large.
for folder in image/*/; do case $folder in */bin/|*/dev/|*/etc/|*/lib*/|*/opt/|*/proc/|*/sbin/|*/tmp/|*/usr/|*/var/) ;; *) mount -t tmpfs none $folder ;; esac; done
# Other tests create and remove folders there.
for folder in image/var/lib/stepform*/; do [ ! -d $folder ] || mount -t tmpfs none $folder; done
${installs ? '' : 'mount -t tmpfs none image/usr/share'}
cp /etc/resolv.conf /etc/hosts image/etc/ 2>/dev/null || :
# The base image has no user of this machine.
sed -i '/:1000:/d' image/etc/passwd image/etc/group
in_image() { chroot image /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin "$@"; }
`;
const run = (script: string) =>
  spawnSync(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', '--', '/bin/bash', '--norc', '-c', overlay + script],
    {
      encoding: 'utf8',
      timeout: 200_000,
    },
  );

const canCopy = process.getuid?.() === 0 && run('in_image true').status === 0;

const tarball = canCopy ? await packedOnce() : '';

interface Instruction {
  name: string;
  value: string;
}

/** Instructions of the last stage. */
const lastStage = (dockerfile: string): Instruction[] => {
  const lines = readFileSync(dockerfile, 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  const all = lines.flatMap((line) => {
    const [, name = '', value = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    return name ? [{ name, value }] : [];
  });
  return all.slice(all.findLastIndex(({ name }) => name === 'FROM') + 1);
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const only = (stage: Instruction[], name: string) => stage.find((one) => one.name === name)?.value ?? '';
const commandOf = (value: string) => (JSON.parse(value.slice(value.indexOf('['))) as string[]).map(quoted).join(' ');

/** @param sources by the first word of COPY or ADD that stands for them */
const stepsOf = (stage: Instruction[], sources: Record<string, string>): string =>
  stage
    .flatMap(({ name, value }) => {
      if (name === 'RUN') {
        const script = installs ? value : value.replaceAll(/apt-get [^&]+/g, 'true ');
        return `in_image /bin/bash -o pipefail -e -c ${quoted(script)} >&2`;
      }
      if (name !== 'COPY' && name !== 'ADD') return [];
      const words = value.split(' ').filter((word) => !word.startsWith('--'));
      const source = sources[words[0] ?? ''];
      if (!source) throw new Error(`${name} ${value}: the test has no such file`);
      const target = `image${words.at(-1)}`;
      const place = name === 'ADD' ? `tar -xzf ${source} -C ${target}` : `cp -r ${source} ${target}`;
      return `mkdir -p ${target} && ${place}`;
    })
    .join('\n');

const variables = (stage: Instruction[]): string =>
  stage.flatMap(({ name, value }) => (name === 'ENV' ? value : [])).join(' ');

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });

const terraform = (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'terraform'));
const engine = `$(ls ${terraform.join(' ')} 2>/dev/null | head -1)`;

describe.skipIf(!canCopy)('the image', () => {
  it('of the platform starts as its user, and is healthy', async () => {
    const stage = lastStage('infra/server/Dockerfile');
    const sources = { '${ENGINE_PATH}': engine, 'stepform-*.tgz': tarball };
    const user = only(stage, 'USER');
    expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    const environment = `${variables(stage)} PORT=${await freePort()} HTTPS_PORT=0 ENVIRONMENTS_PORT=0`;
    const inside = `chroot --userspec=${user} image /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin ${environment}`;
    const { status, stdout, stderr } = run(`
cp ${process.execPath} image/usr/local/bin/node
${stepsOf(stage, sources)}
${inside} /bin/sh -c ${quoted(`cd ${only(stage, 'WORKDIR')} && exec ${commandOf(only(stage, 'ENTRYPOINT'))}`)} &
for n in $(seq 120); do ${inside} ${commandOf(only(stage, 'HEALTHCHECK'))} && break; sleep 0.5; done
${inside} ${commandOf(only(stage, 'HEALTHCHECK'))} && stat -c %u:%g image/var/lib/stepform/data/local.json
kill %1`);
    expect([status, stderr], stderr).toEqual([0, expect.any(String)]);
    expect(stdout).toContain('stepform is ready');
    expect(stdout.trim().split('\n').at(-1)).toBe(user);
  }, 240_000);

  it('of runners has the users, and no program with the rights of another user', async () => {
    const { bundles } = await synthesize();
    const stage = lastStage('functions/runner/program/Dockerfile');
    const sources = {
      '.': `${dirname(bundles.runner)}/.`,
      '/usr/local/bin/node': process.execPath,
      '/engine/': engine,
    };
    const { status, stdout, stderr } = run(`
${stepsOf(stage, sources)}
stat -c %A image/usr/bin/su image/usr/bin/passwd
in_image id --user terraform2
in_image ${commandOf(only(stage, 'ENTRYPOINT'))} 2>&1 || :`);
    expect([status, stderr], stderr).toEqual([0, expect.any(String)]);
    const [su, passwd, user, ...rest] = stdout.trim().split('\n');
    expect([su, passwd]).toEqual(['-rwxr-xr-x', '-rwxr-xr-x']);
    expect(user).toBe('60002');
    expect(rest.join('\n')).toContain('STEPFORM_');
  }, 240_000);
});

it('Dockerfiles name the base images of deployments by default', () => {
  const { nodeSlim } = baseImages();
  const named = `ARG NODE_IMAGE=${referenceOf({ ...nodeSlim, digest: null })}`;
  for (const file of ['infra/server/Dockerfile', 'functions/runner/program/Dockerfile'])
    expect(readFileSync(file, 'utf8').split('\n'), file).toContain(named);
});
