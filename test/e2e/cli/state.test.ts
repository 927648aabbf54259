import { createHash } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inWorkspace, runIn, type Terraform } from '../support/terraform.ts';
import { client, organization, type Resource } from '../support/world.ts';

/** Commands that read or change the state without a run. */

let here: Terraform;
let workspace: Resource;
/** Initial state of every test: the example, applied, with any serial. */
let applied: State;

interface State {
  serial: number;
  lineage: string;
}

const stateNow = async (): Promise<State> => JSON.parse(await here.succeed('state pull'));

beforeAll(async () => {
  ({ here, workspace } = await inWorkspace());
  await here.succeed('apply -auto-approve');
  applied = JSON.parse(await here.succeed('state pull'));
});

const replaceState = async (outputs?: object): Promise<void> => {
  const { attributes } = await client.get(`/workspaces/${workspace.id}/current-state-version`);
  const state = { ...applied, ...(outputs ? { outputs } : {}), serial: attributes.serial + 1 };
  const content = Buffer.from(JSON.stringify(state));
  await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, {});
  const created = await client.create(`/workspaces/${workspace.id}/state-versions`, 'state-versions', {
    serial: state.serial,
    lineage: applied.lineage,
    md5: createHash('md5').update(content).digest('hex'),
    ...(outputs ? {} : { state: content.toString('base64') }),
  });
  if (outputs) await fetch(created.attributes['hosted-state-upload-url'] as string, { method: 'PUT', body: content });
  await client.call('POST', `/workspaces/${workspace.id}/actions/unlock`);
};

beforeEach(() => replaceState());

describe('terraform output', () => {
  it('shows values, sensitive ones only by name', async () => {
    expect(await here.succeed('output')).toBe('n = "x"\nsecret = <sensitive>\n');
    expect(await here.succeed('output -raw secret')).toBe('hunter2');
    expect(JSON.parse(await here.succeed('output -json n'))).toBe('x');
    expect(await here.fail('output nowhere')).toContain('Output "nowhere" not found');
  });

  it('shows each of outputs that are too large for one response', async () => {
    const large = (letter: string) => ({ value: letter.repeat(2_000_000), type: 'string' });
    await replaceState({ n: { value: 'x', type: 'string' }, a: large('a'), b: large('"'), c: large('c') });
    expect(await here.succeed('output n')).toBe('"x"\n');
    expect(await here.succeed('output -raw c')).toBe('c'.repeat(2_000_000));
  });
});

it('terraform console evaluates with the state', async () => {
  // It may print that it waits for the lock.
  expect(await here.succeed('console', ['terraform_data.a.output'])).toMatch(/^"x"$/m);
});

it('terraform show renders the state', async () => {
  expect(await here.succeed('show')).toContain('# terraform_data.a:');
  const json = JSON.parse(await here.succeed('show -json'));
  expect(json.values.outputs.secret).toEqual({ sensitive: true, type: 'string', value: 'hunter2' });
});

describe('terraform state', () => {
  it('lists, shows, moves and removes', async () => {
    expect(await here.succeed('state list')).toBe('terraform_data.a\nterraform_data.b\n');
    expect(await here.succeed('state show terraform_data.b')).toContain('input  = "b"');
    await here.succeed('state mv terraform_data.b terraform_data.c');
    await here.succeed('state rm terraform_data.a');
    expect(await here.succeed('state list')).toBe('terraform_data.c\n');
    expect((await client.get(`/workspaces/${workspace.id}`)).attributes).toMatchObject({
      locked: false,
      'resource-count': 1,
    });
  });

  it('accepts a newer state, and rejects an older one or another lineage', async () => {
    const now = await stateNow();
    const write = (state: object) => here.write('pushed.tfstate', JSON.stringify({ ...now, ...state }));
    write({ serial: now.serial - 1 });
    expect(await here.fail('state push pushed.tfstate')).toContain('cannot import state with serial');
    write({ serial: now.serial + 1, lineage: 'another' });
    expect(await here.fail('state push pushed.tfstate')).toContain('lineage');
    expect(await stateNow()).toEqual(now);
    write({ serial: now.serial + 1, outputs: { n: { value: 'pushed', type: 'string' } } });
    await here.succeed('state push pushed.tfstate');
    expect(await here.succeed('output')).toBe('n = "pushed"\n');
    expect((await stateNow()).serial).toBeGreaterThan(now.serial);

    // The state is wrong about the real resource, which only a refresh detects.
    const refreshed = await here.succeed('plan -refresh-only');
    expect(refreshed).toContain('~ n      = "pushed" -> "x"');
    expect((await runIn(refreshed)).attributes).toMatchObject({ 'refresh-only': true, 'plan-only': true });
    expect(await here.succeed('apply -refresh-only -auto-approve')).toContain('0 added, 0 changed, 0 destroyed');
    expect(await here.succeed('output -raw n')).toBe('x');
  });
});

it('terraform import imports a resource, with the variables of the workspace', async () => {
  await client.setVariable(workspace.id, { key: 'word', value: 'known' });
  here.write('import.tf', 'variable "word" {}\nresource "terraform_data" "found" {\n  input = var.word\n}\n');
  expect(await here.succeed('import terraform_data.found some-id')).toContain('Import successful!');
  expect(await here.succeed('state show terraform_data.found')).toContain('"some-id"');
  here.remove('import.tf');
});

describe('a lock', () => {
  it('keeps others out until a force-unlock', async () => {
    await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, { reason: 'maintenance' });
    const id = `${organization}/${workspace.attributes.name}`;
    const refused = await here.fail('state rm terraform_data.a');
    expect(refused).toContain('Error acquiring the state lock');
    expect(refused).toContain(`workspace already locked (lock ID: "${id}")`);
    expect(await here.fail('force-unlock -force something/else')).toContain('does not match existing lock ID');
    expect(await here.succeed(`force-unlock -force ${id}`)).toContain('has been successfully unlocked');
    expect(await here.fail(`force-unlock -force ${id}`)).toContain('already unlocked');
    await here.succeed('state rm terraform_data.a');
  });
});

describe('another version of Terraform', () => {
  it('reads freely, but changes state only when allowed', async () => {
    const change = (version: string) =>
      client.call('PATCH', `/workspaces/${workspace.id}`, { data: { attributes: { 'terraform-version': version } } });
    await change('1.5.7');
    expect(await here.succeed('state list')).toContain('terraform_data.a');
    const refused = await here.fail('state rm terraform_data.a');
    expect(refused).toContain('Incompatible Terraform version');
    expect(refused).toContain(`for remote workspace ${organization}/${workspace.attributes.name} (~> 1.5.0)`);
    expect(await here.succeed('state rm -ignore-remote-version terraform_data.a')).toContain(
      'Warning: Incompatible Terraform version',
    );
    await change('~> 1.11');
    await here.succeed('state rm terraform_data.b');
    await change('1.11.4');
  });
});
