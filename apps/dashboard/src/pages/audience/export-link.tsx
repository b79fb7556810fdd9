import { Button, type ButtonProps } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useProject } from '../../app/session.tsx';
import { type ContactSearch, exportUrl } from './contact-search.ts';

/** Exports matching contacts as CSV that can be imported again. */
export function ExportLink({
  search,
  children = 'Export',
  ...look
}: { search: ContactSearch } & Pick<ButtonProps, 'size' | 'children'>) {
  const { id } = useProject();
  return (
    <Button
      component="a"
      href={exportUrl(id, search)}
      download
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
      {...look}
    >
      {children}
    </Button>
  );
}
