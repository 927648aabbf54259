import { saveFile } from '../text/save.ts';
import { ActionButton } from './button.tsx';

interface Props {
  /** `audit-trail-acme` */
  name: string;
  read(): Promise<string>;
}

/** Downloads a CSV file; shows errors next to the button. */
export const ExportButton = ({ name, read }: Props) => {
  const save = async () => saveFile(await read(), `${name}-${new Date().toISOString().slice(0, 10)}.csv`);
  return <ActionButton text="Export CSV" working="Exporting …" work={save} />;
};
