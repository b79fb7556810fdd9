import { EmailPreview } from './email-preview.tsx';
import { SampleContact } from './sample-contact.tsx';
import { useSampleContact } from './use-sample-contact.ts';

interface SampledPreviewProps {
  html: string;
  title: string;
  /** By default as high as the content probably is. */
  height?: number;
}

/** A preview with the values of a contact, who can be chosen. */
export function SampledPreview(props: SampledPreviewProps) {
  const { values } = useSampleContact();
  return (
    <EmailPreview {...props} values={values}>
      <SampleContact label="Preview as" inline />
    </EmailPreview>
  );
}
