import { Modal, type ModalProps } from '@mantine/core';
import { useState } from 'react';
import { createFormScope, FormScope } from '../data/unsaved-changes.ts';

/**
 * A modal dialog. While a form in it has unsaved changes, Escape, a click outside and the close button ask before they drop them. The
 * buttons of the form don't ask.
 */
export function Dialog({ onClose, ...props }: ModalProps) {
  const [scope] = useState(createFormScope);
  const close = async () => {
    if (await scope.mayLeave()) onClose();
  };
  return (
    <FormScope value={scope}>
      <Modal {...props} onClose={() => void close()} />
    </FormScope>
  );
}
