import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { go } from '#clients/web/location.ts';
import { FormDialog } from '#clients/web/parts/dialog.tsx';
import { Choice, More, Select, Text, textOf, type Values } from '#clients/web/parts/fields.tsx';
import { Picker } from '#clients/web/parts/picker.tsx';
import { create } from '#clients/web/session.ts';
import { configuration, type Picked, uploadTests } from '#clients/web/upload.ts';
import { readTfvars } from '#platform/formats/tfvars.ts';
import { archiveOf, type ModuleAddress, testsPath, usableVersions } from './module-api.ts';

const ownFiles = 'files';

/** Separated by commas or line breaks. */
const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(/[\n,]/)
    .map((entry) => entry.trim())
    .filter(Boolean);

interface Props {
  module: Resource<'registry-modules'>;
  address: ModuleAddress;
  onClose(): void;
}

/** Starts the tests of a published version or of picked files. */
export const RunTests = ({ module, address, onClose }: Props) => {
  const versions = usableVersions(module);
  const version = useSignal(versions[0] ?? ownFiles);
  const source = useSignal<Picked | undefined>(undefined);
  const path = testsPath(address);
  const submit = async (data: FormData, { message, directory, verbose }: Values) => {
    const chosen = version.value;
    const files: Picked | undefined =
      chosen === ownFiles ? source.value : { name: chosen, archive: () => archiveOf(address, chosen) };
    if (!files) throw new Error('Choose the folder with the files of the module.');
    const id = await uploadTests(path, files);
    const run = await create(
      `${path}/test-runs`,
      'test-runs',
      {
        message: message ?? `Tests of ${files.name}`,
        filters: listOf(textOf(data, 'filters')),
        ...(directory ? { 'test-directory': directory } : {}),
        verbose,
        variables: readTfvars(textOf(data, 'variables') ?? ''),
      },
      { 'configuration-version': { data: { type: 'configuration-versions', id } } },
    );
    go({ ...address, view: 'test-run', run: run.id });
  };
  return (
    <FormDialog title="Run tests" submit="Run tests" onSubmit={submit} onClose={onClose}>
      <Select
        label="Module version"
        name="version"
        chosen={version}
        options={[
          ...versions.map((version) => [version, `Version ${version}`] as const),
          [ownFiles, 'Files that I choose'],
        ]}
      />
      {version.value === ownFiles && (
        <Picker
          label="Files"
          source={source}
          kind={configuration}
          says="Choose the folder of the module, with its tests."
        />
      )}
      <Text label="Message" name="message" placeholder="Why these tests?" />
      <Text
        label="Variables"
        name="variables"
        lines={3}
        placeholder={'region = "eu-central-1"'}
        hint="As in a .tfvars file. Everyone who publishes modules can read them; put secrets into environment variables."
      />
      <More summary="More options">
        <Text
          label="Test files"
          name="filters"
          lines={2}
          hint="One path per line, for example tests/network.tftest.hcl. Empty: all of them."
        />
        <Text label="Test directory" name="directory" placeholder="tests" />
        <Choice name="verbose" label="Verbose" hint="Prints the plan or state of each run block." />
      </More>
    </FormDialog>
  );
};
