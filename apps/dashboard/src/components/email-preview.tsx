import { Box, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconDeviceDesktop, IconDeviceMobile, IconPhoto } from '@tabler/icons-react';
import { useEffect, useId, useRef, useState } from 'react';

const NO_VALUES = {};

interface MailFrameProps {
  html: string;
  /** What the frame is called for those who can't see it. */
  title: string;
  /** What placeholders are filled in with; their defaults otherwise. */
  values?: Record<string, unknown>;
  height?: number | string;
}

/**
 * Mail as its reader sees it, on a desktop or a phone. It is posted to the server and comes back as a document that runs no
 * script and has an origin of its own; images from elsewhere are loaded only when asked for, as in mail programs.
 */
export function EmailPreview({ html, title, values = NO_VALUES, height = 560 }: MailFrameProps) {
  const [width, setWidth] = useState<'desktop' | 'phone'>('desktop');
  const [images, setImages] = useState(false);
  const hasImages = /<img\b[^>]*\bsrc\s*=\s*["']?https?:/i.test(html) || /url\(\s*["']?https?:/i.test(html);
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          size="xs"
          value={width}
          onChange={(next) => setWidth(next as 'desktop' | 'phone')}
          aria-label="Preview width"
          data={[
            { value: 'desktop', label: <Width icon={IconDeviceDesktop} word="Desktop" /> },
            { value: 'phone', label: <Width icon={IconDeviceMobile} word="Phone" /> },
          ]}
        />
        {hasImages && (
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconPhoto size={15} aria-hidden />}
            onClick={() => setImages(!images)}
          >
            {images ? 'Hide images' : 'Load images'}
          </Button>
        )}
      </Group>
      <Box className={`mail-frame mail-frame-${width}`}>
        <Posted html={html} values={JSON.stringify(values)} images={images} title={title} height={height} />
      </Box>
    </Stack>
  );
}

function Width({ icon: Icon, word }: { icon: typeof IconPhoto; word: string }) {
  return (
    <Group gap={6} wrap="nowrap" component="span">
      <Icon size={15} stroke={1.7} aria-hidden />
      <Text span size="xs">
        {word}
      </Text>
    </Group>
  );
}

interface PostedProps {
  html: string;
  values: string;
  images: boolean;
  title: string;
  height: number | string;
}

/**
 * Posts into a new frame each time, since the history of a frame that goes on would get between the Back button and the page.
 * The one before is shown until the new one has its mail, or each pause in typing would be a white moment.
 */
function Posted({ html, values, images, title, height }: PostedProps) {
  const form = useRef<HTMLFormElement>(null);
  const posted = useRef<string[]>([]);
  const name = useId();
  const newest = `${name}${images ? 'i' : ''}${html.length}-${hash(html + values)}`;
  const [shown, setShown] = useState(newest);
  const frames = shown === newest ? [newest] : [shown, newest];
  useEffect(() => {
    const kept = posted.current.filter((key) => key === shown || key === newest);
    posted.current = kept.includes(newest) ? kept : [...kept, newest];
    if (!kept.includes(newest)) form.current?.submit();
  }, [shown, newest]);
  // Some browsers also say so of the empty page that a frame begins with.
  const show = (key: string) => posted.current.includes(key) && setShown(key);
  return (
    <>
      <form ref={form} action="/app/preview" method="post" target={newest} hidden>
        <input type="hidden" name="html" value={html} readOnly />
        <input type="hidden" name="values" value={values} readOnly />
        <input type="hidden" name="images" value={images ? 'yes' : 'no'} readOnly />
      </form>
      {frames.map((key) => (
        <iframe
          key={key}
          name={key}
          title={key === shown ? title : undefined}
          aria-hidden={key !== shown}
          className={key === shown ? undefined : 'mail-frame-next'}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          referrerPolicy="no-referrer"
          height={height}
          tabIndex={key === shown ? 0 : -1}
          onLoad={key === newest ? () => show(key) : undefined}
        />
      ))}
    </>
  );
}

/** Tells texts apart; nothing depends on its being hard to invert. */
function hash(text: string): number {
  let value = 0;
  for (let at = 0; at < text.length; at++) value = (value * 31 + text.charCodeAt(at)) | 0;
  return value >>> 0;
}
