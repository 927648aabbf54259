import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { client, newName, organization, platform, resources } from './support/world.ts';

/** The real `terraform` as the client: what it asks for beyond a run, and what it shows of one. */

const { host } = new URL(platform.httpsUrl ?? platform.url);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'terraform-cli-'));
  writeFileSync(join(folder, 'terraform.rc'), `credentials "${host}" {\n  token = "${platform.token}"\n}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  code: number | null;
  text: string;
}

/** A directory with a configuration, and terraform in it. */
const directory = (settings: string, configuration: string) => {
  const path = join(folder, newName('dir'));
  mkdirSync(path);
  const write = (name: string, content: string) => writeFileSync(join(path, name), content);
  write('main.tf', `terraform {\n${settings}\n}\n${configuration}`);
  const terraform = (command: string, input = ''): Promise<Ended> =>
    new Promise((resolve, reject) => {
      const child = spawn('terraform', [...command.split(' ')], {
        cwd: path,
        env: {
          ...process.env,
          TF_CLI_CONFIG_FILE: join(folder, 'terraform.rc'),
          CHECKPOINT_DISABLE: '1',
          TF_IN_AUTOMATION: '1',
          ...(platform.caFile ? { SSL_CERT_FILE: platform.caFile } : {}),
        },
      });
      const parts: Buffer[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => parts.push(part));
      child.on('error', reject);
      child.on('close', (code) => {
        resolve({ code, text: stripVTControlCharacters(Buffer.concat(parts).toString()) });
      });
      child.stdin.end(input);
    });
  /** @throws {Error} with all it said, when it fails */
  const succeed = async (command: string, input?: string): Promise<string> => {
    const { code, text } = await terraform(command, input);
    if (code !== 0) throw new Error(`terraform ${command} ended with ${code}:\n${text}`);
    return text;
  };
  return { write, terraform, succeed, read: (name: string) => readFileSync(join(path, name), 'utf8') };
};

const cloud = (workspaces: string, more = '') => `  cloud {
    hostname     = "${host}"
    organization = "${organization}"
    workspaces {
      ${workspaces}
    }
    ${more}
  }`;

const workspaceNamed = (name: string) => client.get(`/organizations/${organization}/workspaces/${name}`);

const configuration = `variable "n" {
  default = "x"
}
resource "terraform_data" "a" {
  input = var.n
}
output "n" {
  value = terraform_data.a.output
}
output "secret" {
  value     = "hunter2"
  sensitive = true
}
`;

describe('with a cloud block, terraform', () => {
  const name = newName('cli');
  let here: ReturnType<typeof directory>;
  beforeAll(async () => {
    here = directory(cloud(`name = "${name}"`), configuration);
    await here.succeed('init -no-color');
  });

  it('makes the workspace', async () => {
    const { attributes } = await workspaceNamed(name);
    expect(attributes).toMatchObject({ name, 'execution-mode': 'remote' });
  });

  it('plans with its variables, and renders the plan', async () => {
    const text = await here.succeed('plan -no-color -var n=planned');
    expect(text).toContain('# terraform_data.a will be created');
    expect(text).toMatch(/\+ input {2}= "planned"/);
    expect(text).toContain('Plan: 1 to add, 0 to change, 0 to destroy.');
    expect(text.match(/will be created/g)).toHaveLength(1);
  });

  it('applies after "yes", discards after anything else, and shows outputs one by one', async () => {
    const refused = await here.terraform('apply -no-color', 'no\n');
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('Apply discarded.') });
    const text = await here.succeed('apply -no-color', 'yes\n');
    expect(text).toContain('Apply complete! Resources: 1 added, 0 changed, 0 destroyed.');
    expect(text).not.toContain('hunter2');
    expect(await here.succeed('output -no-color n')).toBe('"x"\n');
    expect(await here.succeed('output -no-color')).toContain('secret = <sensitive>');
    expect(await here.succeed('output -raw secret')).toBe('hunter2');
    expect(await here.succeed('plan -no-color')).toContain('No changes.');
  });

  it('saves a plan, shows it and applies it', async () => {
    await here.succeed('plan -no-color -out=saved.plan -var n=saved');
    expect(await here.succeed('show -no-color saved.plan')).toContain('planned and saved (confirmable)');
    const text = await here.succeed('apply -no-color saved.plan');
    expect(text).toContain('0 added, 1 changed, 0 destroyed');
    const again = await here.terraform('apply -no-color saved.plan');
    expect(again).toMatchObject({ code: 1, text: expect.stringContaining('already') });
  });

  it('pulls, changes and pushes state, and is refused an old one', async () => {
    const old = await here.succeed('state pull');
    await here.succeed('state mv terraform_data.a terraform_data.b');
    expect(await here.succeed('state list')).toBe('terraform_data.b\n');
    await here.succeed('state mv terraform_data.b terraform_data.a');
    const state = JSON.parse(await here.succeed('state pull')) as { serial: number; outputs: object };
    expect(state.serial).toBe(JSON.parse(old).serial + 2);
    here.write('new.json', JSON.stringify({ ...state, serial: state.serial + 1 }));
    await here.succeed('state push new.json');
    here.write('old.json', old);
    expect(await here.terraform('state push old.json')).toMatchObject({
      code: 1,
      text: expect.stringContaining('cannot import state with serial'),
    });
    const workspace = await workspaceNamed(name);
    expect(workspace.attributes).toMatchObject({ locked: false, 'resource-count': 1 });
  });

  it('destroys', async () => {
    expect(await here.succeed('destroy -no-color -auto-approve')).toContain('1 destroyed');
    const workspace = await workspaceNamed(name);
    expect(workspace.attributes['resource-count']).toBe(0);
  });
});

describe('with tags, terraform', () => {
  it('makes, lists, selects and deletes workspaces, and runs locally in one that says so', async () => {
    const team = newName('team');
    const [one, two] = [newName('one'), newName('two')];
    const here = directory(cloud(`tags = { team = "${team}" }`), resources(['a']));
    await here.succeed('init -no-color', `${one}\n`);
    await here.succeed(`workspace new -no-color ${two}`);
    const listed = await here.succeed('workspace list -no-color');
    expect(
      listed
        .split('\n')
        .map((line) => line.replace('*', '').trim())
        .filter(Boolean)
        .sort(),
    ).toEqual([one, two].sort());
    const workspace = await workspaceNamed(two);
    await client.call('PATCH', `/workspaces/${workspace.id}`, { data: { attributes: { 'execution-mode': 'local' } } });
    expect(await here.succeed('apply -no-color -auto-approve')).toContain('1 added');
    await here.succeed(`workspace select -no-color ${one}`);
    const refused = await here.terraform(`workspace delete -no-color ${two}`);
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('terraform_data.a') });
    await here.succeed(`workspace delete -no-color -force ${two}`);
    expect(await here.succeed('workspace list -no-color')).not.toContain(two);
  });

  it('takes a lock away by force', async () => {
    const name = newName('locked');
    const here = directory(cloud(`name = "${name}"`), resources(['a']));
    await here.succeed('init -no-color');
    const workspace = await workspaceNamed(name);
    await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, { reason: 'maintenance' });
    expect(await here.terraform('state rm terraform_data.x')).toMatchObject({ code: 1 });
    await here.succeed(`force-unlock -force ${organization}/${name}`);
    expect((await workspaceNamed(name)).attributes.locked).toBe(false);
  });
});

it('with the older backend "remote", terraform plans and applies in plain text', async () => {
  const prefix = `${newName('old')}-`;
  const backend = `  backend "remote" {
    hostname     = "${host}"
    organization = "${organization}"
    workspaces {
      prefix = "${prefix}"
    }
  }`;
  const here = directory(backend, configuration);
  await here.terraform('init -no-color');
  await here.succeed('workspace new -no-color dev');
  const plan = await here.succeed('plan -no-color');
  expect(plan).toContain('Plan: 1 to add');
  expect(plan).not.toContain('"@level"');
  expect(await here.succeed('apply -no-color -auto-approve')).toContain('1 added, 0 changed');
  expect(await here.succeed('output -raw n')).toBe('x');
});
