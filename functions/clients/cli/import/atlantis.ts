import { posix } from 'node:path';
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { wrongUsage } from '../exit.ts';

/**
 * Projects of an `atlantis.yaml` as workspaces (Atlantis: repo-level atlantis.yaml, version 3). Keys without an
 * equivalent are named, never dropped. Pure.
 */

export interface AtlantisWorkspace {
  name: string;
  attributes: Record<string, unknown>;
  /** Literal branch of the project; undefined for the default branch. */
  branch?: string;
  /** What a person has to decide. */
  byHand: string[];
}

export interface AtlantisFile {
  workspaces: AtlantisWorkspace[];
  /** Of the whole file. */
  byHand: string[];
}

type Entries = Record<string, unknown>;

const isEntries = (value: unknown): value is Entries =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** Atlantis's own default, without Terragrunt's file. */
const defaultPatterns = ['**/*.tf*', '**/.terraform.lock.hcl'];

/** Keys that the workspace honours, or whose effect it always has. */
const honoured = ['name', 'dir', 'workspace', 'branch', 'terraform_version', 'terraform_distribution'];
const read = [...honoured, 'autoplan', 'apply_requirements', 'workflow', 'depends_on', 'execution_order_group'];

const engines: Record<string, string> = { terraform: 'terraform', opentofu: 'tofu' };

const nameOf = ({ name, dir, workspace = 'default' }: Entries, repository: string): string => {
  const folder = posix.normalize(String(dir ?? '.')).replace(/\/$/, '');
  const base = folder === '.' ? (repository.split('/').at(-1) as string) : folder;
  const text = name ? String(name) : workspace === 'default' ? base : `${base}-${workspace}`;
  return text.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 90);
};

/** Patterns relative to the project's folder, from the root of the repository. */
const patternsOf = (dir: string, patterns: string[], byHand: string[]): string[] =>
  patterns.flatMap((pattern) => {
    const path = posix.join('/', dir, pattern.replace(/^!/, ''));
    if (!pattern.startsWith('!') && !posix.join(dir, pattern).startsWith('..')) return [path];
    byHand.push(`when_modified "${pattern}": write patterns that include only what starts a run`);
    return [];
  });

const requirementsOf = (requirements: string[], byHand: string[]): string[] =>
  requirements.filter((word) => {
    if (word === 'approved' || word === 'mergeable') return true;
    byHand.push(
      word === 'undiverged'
        ? 'apply_requirements "undiverged": let the forge require branches to be up to date, and use mergeable'
        : `apply_requirements "${word}" is not known`,
    );
    return false;
  });

const readProject = (project: Entries, repository: string): AtlantisWorkspace => {
  const byHand: string[] = [];
  const { branch, workspace = 'default', terraform_version: version, terraform_distribution: engine } = project;
  const dir = posix.normalize(String(project.dir ?? '.')).replace(/\/$/, '');
  if (dir.startsWith('..') || dir.startsWith('/'))
    throw wrongUsage(`atlantis.yaml: dir "${dir}" is outside the repository`);
  const name = nameOf(project, repository);
  const autoplan = isEntries(project.autoplan) ? project.autoplan : {};
  const [, literal] = /^\/\^?([\w./-]+?)\$?\/$/.exec(String(branch ?? '')) ?? [];
  if (branch !== undefined && !literal) byHand.push(`branch ${branch}: a workspace follows one branch`);
  if (workspace !== 'default') byHand.push(`terraform.workspace is "${name}" now, no longer "${workspace}"`);
  if (engine !== undefined && !engines[String(engine)]) byHand.push(`terraform_distribution "${engine}" is not known`);
  if (project.workflow !== undefined)
    byHand.push(`workflow "${project.workflow}": its own steps become run tasks, its arguments TF_CLI_ARGS variables`);
  for (const key of ['depends_on', 'execution_order_group'])
    if (project[key] !== undefined) byHand.push(`${key}: give the later workspace a run trigger from the earlier one`);
  for (const key of Object.keys(project)) if (!read.includes(key)) byHand.push(`${key} has no equivalent`);
  return {
    name,
    attributes: {
      'working-directory': dir === '.' ? '' : dir,
      'file-triggers-enabled': true,
      'trigger-patterns': patternsOf(
        dir,
        autoplan.when_modified ? texts(autoplan.when_modified) : defaultPatterns,
        byHand,
      ),
      'speculative-enabled': autoplan.enabled !== false,
      'apply-before-merge-enabled': true,
      'apply-before-merge-requirements': requirementsOf(texts(project.apply_requirements), byHand),
      ...(version === undefined ? {} : { 'terraform-version': String(version).replace(/^v/, '') }),
      ...(engines[String(engine)] ? { engine: engines[String(engine)] } : {}),
    },
    ...(literal ? { branch: literal } : {}),
    byHand,
  };
};

const parsed = (text: string): unknown => {
  try {
    return parseYaml(text);
  } catch (error) {
    if (error instanceof YAMLParseError) throw wrongUsage(`atlantis.yaml: ${error.message}`);
    throw error;
  }
};

/**
 * @param repository `owner/name`
 * @throws {CommandError} for another version or format
 */
export const readAtlantis = (text: string, repository: string): AtlantisFile => {
  const file = parsed(text);
  if (!isEntries(file) || file.version !== 3) throw wrongUsage('atlantis.yaml: only version 3 can be read');
  const projects = Array.isArray(file.projects) ? file.projects.filter(isEntries) : [];
  if (projects.length === 0)
    throw wrongUsage(
      'atlantis.yaml lists no projects: Atlantis finds them itself. Create a workspace for each folder.',
    );
  const workspaces = projects.map((project) => readProject(project, repository));
  const names = workspaces.map(({ name }) => name);
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated)
    throw wrongUsage(`atlantis.yaml: two projects become workspace ${repeated}. Give them different names.`);
  const known = ['version', 'projects', 'workflows', 'parallel_plan', 'parallel_apply'];
  return {
    workspaces,
    byHand: [
      ...Object.keys(file)
        .filter((key) => !known.includes(key))
        .map((key) => `${key} has no equivalent`),
      ...['parallel_plan', 'parallel_apply']
        .filter((key) => file[key] === false)
        .map((key) => `${key}: runs of different workspaces are always parallel`),
    ],
  };
};
