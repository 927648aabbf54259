import { describe, expect, it } from 'vitest';
import { resource, stateFile } from '#test/support/state.ts';
import { cloud, example, host, Terraform, workspaceNamed } from '../support/terraform.ts';
import { client, newName, organization, pushState, resources } from '../support/world.ts';

const at = (workspaces: string, configuration = example): Terraform =>
  new Terraform({ files: { 'cloud.tf': cloud(workspaces), 'main.tf': configuration } });

const listed = async (here: Terraform): Promise<string[]> =>
  (await here.succeed('workspace list'))
    .split('\n')
    .map((line) => line.replace('*', '').trim())
    .filter(Boolean)
    .sort();

describe.concurrent('terraform init, by name,', () => {
  it('creates the workspace and its project', async () => {
    const [name, project] = [newName('made'), newName('project')];
    const settings = `name    = "${name}"\n      project = "${project}"`;
    const text = await at(settings).succeed('init -input=false');
    expect(text).toContain('HCP Terraform has been successfully initialized!');
    const workspace = await workspaceNamed(name);
    expect(workspace.attributes).toMatchObject({ 'execution-mode': 'remote', 'terraform-version': '1.11.4' });
    const projects = await client.list(`/organizations/${organization}/projects?filter[names]=${project}`);
    expect(projects.map(({ id }) => ({ id, type: 'projects' }))).toEqual([workspace.relationships?.project?.data]);
    // Another user finds both.
    await at(settings).succeed('init -input=false');
    expect((await workspaceNamed(name)).id).toBe(workspace.id);
  });

  it('explains a wrong token, organization or host', async () => {
    const settings = `name = "${newName()}"`;
    const files = { 'cloud.tf': cloud(settings) };
    expect(await new Terraform({ files, token: 'sfu_not-a-token' }).fail('init')).toMatch(/unauthorized/i);
    expect(await new Terraform({ files, token: null }).fail('init')).toContain('terraform login');
    const strange = cloud(settings).replace(`"${organization}"`, '"nobodys"');
    expect(await new Terraform({ files: { 'cloud.tf': strange } }).fail('init')).toMatch(
      /organization "nobodys" at host .* not found/,
    );
  });

  it('takes everything from the environment', async () => {
    const name = newName('env');
    await client.createWorkspace(organization, name);
    const here = new Terraform({
      files: { 'cloud.tf': 'terraform {\n  cloud {}\n}\n', 'main.tf': example },
      env: { TF_CLOUD_HOSTNAME: host, TF_CLOUD_ORGANIZATION: organization, TF_WORKSPACE: name },
    });
    await here.succeed('init -input=false');
    expect(await here.succeed('workspace show')).toBe(`${name}\n`);
  });
});

describe.concurrent('terraform workspace, with tags,', () => {
  it('creates, lists, selects and deletes', async () => {
    const tag = newName('tag');
    const [one, two, three] = [newName('one'), newName('two'), newName('three')];
    const here = at(`tags = ["${tag}", "all"]`, resources(['a']));
    expect(await here.succeed('init', [one])).toContain(
      `There are no workspaces with the configured tags (${tag}, all)`,
    );
    expect((await workspaceNamed(one)).attributes['tag-names'].sort()).toEqual(['all', tag].sort());
    expect(await here.succeed(`workspace new ${two}`)).toContain(`Created and switched to workspace "${two}"!`);
    expect(await listed(here)).toEqual([one, two].sort());
    expect(await here.fail(`workspace new ${one}`)).toContain('already exists');
    await pushState(await workspaceNamed(two), stateFile({ resources: [resource('terraform_data', 'a')] }));

    await here.succeed(`workspace select ${one}`);
    expect(await here.succeed('workspace show')).toBe(`${one}\n`);
    expect(await here.fail('workspace select nowhere')).toContain(`Workspace "nowhere" doesn't exist.`);
    await here.succeed(`workspace select -or-create ${three}`);
    expect(await listed(here)).toEqual([one, two, three].sort());

    await here.succeed(`workspace delete ${one}`);
    const refused = await here.fail(`workspace delete ${two}`);
    expect(refused).toContain('Workspace is not empty');
    expect(refused).toContain('terraform_data.a');
    await here.succeed(`workspace delete -force ${two}`);
    expect(await here.fail(`workspace delete ${three}`)).toContain('is your active workspace');
    expect(await listed(here)).toEqual([three]);
  });

  it('with keys and values finds matching workspaces, and tags new ones', async () => {
    const team = newName('team');
    const [one, two] = [newName('one'), newName('two')];
    await client.createWorkspace(organization, newName('other'));
    const here = at(`tags = { team = "${team}", stage = "test" }`);
    await here.succeed('init', [one]);
    await here.succeed(`workspace new ${two}`);
    expect(await listed(here)).toEqual([one, two].sort());
    const bindings = await client.list(`/workspaces/${(await workspaceNamed(two)).id}/tag-bindings`);
    expect(bindings.map(({ attributes: { key, value } }) => `${key}=${value}`).sort()).toEqual([
      'stage=test',
      `team=${team}`,
    ]);
  });
});

describe.concurrent('a workspace that runs locally', () => {
  it('stores the state of plans and applies on the user’s machine', async () => {
    const name = newName('local');
    await client.createWorkspace(organization, name, { 'execution-mode': 'local' });
    const here = at(`name = "${name}"`);
    await here.succeed('init -input=false');
    expect(await here.succeed('plan')).toContain('Plan: 2 to add');
    expect(await here.succeed('apply -auto-approve')).toContain('Apply complete! Resources: 2 added');
    expect(await here.succeed('output -raw secret')).toBe('hunter2');
    const { id, attributes } = await workspaceNamed(name);
    expect(attributes).toMatchObject({ locked: false, 'resource-count': 2 });
    expect(await client.list(`/workspaces/${id}/runs`)).toEqual([]);
    await client.call('POST', `/workspaces/${id}/actions/lock`, {});
    expect(await here.fail('apply -auto-approve')).toContain('Error acquiring the state lock');
    await client.call('POST', `/workspaces/${id}/actions/unlock`);
    expect(await here.succeed('destroy -auto-approve')).toContain('2 destroyed');
  });
});
