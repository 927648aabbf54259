import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import type { ResourceType } from '#clients/client/documents.ts';
import type { Live } from './live.ts';
import { get } from './session.ts';

/**
 * The entry of a list that is being created, changed or deleted.
 * @param path of the resources, e.g. `/tasks`
 */
export const useEditing = <T extends ResourceType>(path: string, { refresh }: Live<Resource<T>[]>) => {
  const editing = useSignal<Resource<T> | 'new' | undefined>(undefined);
  const deleting = useSignal<Resource<T> | undefined>(undefined);
  return {
    editing,
    deleting,
    // Entries of a list carry no ETag, which the API needs to detect conflicting edits.
    edit: ({ id }: Resource<T>) =>
      get<T>(`${path}/${id}`).then(
        (record) => {
          editing.value = record;
        },
        // It was deleted, or the platform is unreachable: the list shows that.
        () => refresh(),
      ),
    close: () => {
      editing.value = undefined;
      deleting.value = undefined;
      refresh();
    },
  };
};
