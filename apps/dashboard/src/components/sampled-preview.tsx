import { EmailPreview } from './email-preview.tsx';
import { SampleContact } from './sample-contact.tsx';
import { useSampleContact } from './use-sample-contact.ts';

interface SampledPreviewProps {
  html: string;
  title: string;
  /** In pixels; by default, the estimated height of the content. */
  height?: number;
}

/** A preview with the values of a contact, and a field to choose the contact. */
export function SampledPreview(props: SampledPreviewProps) {
  const { values } = useSampleContact();
  return (
    <EmailPreview {...props} values={values}>
      <SampleContact label="Preview as" inline />
    </EmailPreview>
  );
}
