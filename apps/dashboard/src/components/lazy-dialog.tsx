import { type ComponentType, useEffect, useEffectEvent, useState } from 'react';
import { withFormStyles } from '../app/lazy-page.ts';
import { notifyError } from './notify.tsx';

/** A dialog whose code loads when it is first opened, so that pages are shown without the code of dialogs. */
export function lazyDialog<Props extends { opened: boolean; onClose: () => void }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return function Dialog(props: Props) {
    const { opened, onClose } = props;
    const [Loaded, setLoaded] = useState<ComponentType<Props>>();
    const [isMounted, setMounted] = useState(false);
    const fail = useEffectEvent(() => {
      notifyError("The dialog couldn't be loaded. Check your connection and try again.");
      onClose();
    });
    useEffect(() => {
      if (opened) withFormStyles(load).then((dialog) => setLoaded(() => dialog), fail);
    }, [opened]);
    // A dialog that is closed at first returns the focus later.
    useEffect(() => setMounted(Loaded !== undefined), [Loaded]);
    return Loaded === undefined ? null : <Loaded {...props} opened={opened && isMounted} />;
  };
}
