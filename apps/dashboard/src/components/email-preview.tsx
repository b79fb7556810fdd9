import { Box, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconDeviceDesktop, IconDeviceMobile, IconPhoto } from '@tabler/icons-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { previewHeight } from './preview-height.ts';

const NO_VALUES = {};

interface MailFrameProps {
  html: string;
  /** The accessible name of the frame. */
  title: string;
  /** Placeholder values; placeholders without one show their default. */
  values?: Record<string, unknown>;
  /** By default as high as the content probably is. */
  height?: number | string;
  /** What else to choose for the preview. */
  children?: ReactNode;
}

/**
 * Previews an email at desktop or phone width. The HTML is posted to the server and returned as a script-free
 * document with an opaque origin. Remote images load only on request, as in email clients.
 */
export function EmailPreview({
  html,
  title,
  values = NO_VALUES,
  height = previewHeight(html),
  children,
}: MailFrameProps) {
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
            { value: 'desktop', label: <Width icon={IconDeviceDesktop} label="Desktop" /> },
            { value: 'phone', label: <Width icon={IconDeviceMobile} label="Phone" /> },
          ]}
        />
        {children}
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
        <PostedFrame html={html} values={JSON.stringify(values)} images={images} title={title} height={height} />
      </Box>
    </Stack>
  );
}

function Width({ icon: Icon, label }: { icon: typeof IconPhoto; label: string }) {
  return (
    <Group gap={6} wrap="nowrap" component="span">
      <Icon size={15} stroke={1.7} aria-hidden />
      <Text span size="xs">
        {label}
      </Text>
    </Group>
  );
}

interface PostedProps {
  html: string;
  /** As JSON. */
  values: string;
  images: boolean;
  /** The accessible name; omitted if the frame is decorative. */
  title?: string;
  height: number | string;
}

/**
 * Posts into a new frame each time, because reusing one would add history entries and break the Back button. The
 * previous frame stays visible until the new one loads, to avoid flicker.
 */
export function PostedFrame({ html, values, images, title, height }: PostedProps) {
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
  // Some browsers also fire `load` for the initial blank page.
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
          aria-hidden={key !== shown || title === undefined}
          className={key === shown ? undefined : 'mail-frame-next'}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          referrerPolicy="no-referrer"
          height={height}
          tabIndex={key === shown && title !== undefined ? 0 : -1}
          onLoad={key === newest ? () => show(key) : undefined}
        />
      ))}
    </>
  );
}

/** A non-cryptographic hash to tell texts apart. */
function hash(text: string): number {
  let value = 0;
  for (let at = 0; at < text.length; at++) value = (value * 31 + text.charCodeAt(at)) | 0;
  return value >>> 0;
}
