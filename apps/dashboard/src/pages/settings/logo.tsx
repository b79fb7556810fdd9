import { Button, Card, FileButton, Group, Image, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { FormError, FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';

const SET = graphql(`
  mutation SetProjectLogo($image: String) {
    setProjectLogo(image: $image) {
      id
    }
  }
`);

const MAX_BYTES = 200 * 1024;

/** The logo of recipient-facing pages: uploaded, replaced and removed at once. */
export function Logo({ url }: { url: string | null }) {
  const canManage = usePermission('manage');
  const set = useApiMutation(SET);
  const [wrong, setWrong] = useState<string>();
  const save = async (image: string | null) => {
    if ((await set.run({ image })) !== undefined) notifySuccess(image === null ? 'Logo removed.' : 'Logo saved.');
  };
  const upload = async (file: File | null) => {
    if (file === null) return;
    const isTooLarge = file.size > MAX_BYTES;
    setWrong(isTooLarge ? 'Choose an image of at most 200 KB.' : undefined);
    if (!isTooLarge) await save(await base64Of(file));
  };
  return (
    <Card>
      <Stack>
        <FormProblem problem={set.problem} />
        <FormError>{wrong}</FormError>
        <div>
          <Text size="sm" fw={500}>
            Logo
          </Text>
          <Text size="sm" c="dimmed">
            A PNG, JPEG or WebP image of at most 200 KB.
          </Text>
        </div>
        {url !== null && (
          <Image
            src={new URL(url).pathname}
            alt="The current logo"
            w="auto"
            maw={192}
            h={64}
            fit="contain"
            bg="white"
          />
        )}
        {canManage && (
          <Group gap="xs">
            <FileButton onChange={(file) => void upload(file)} accept="image/png,image/jpeg,image/webp">
              {(props) => (
                <Button {...props} variant="default" loading={set.running}>
                  {url === null ? 'Upload logo' : 'Replace logo'}
                </Button>
              )}
            </FileButton>
            {url !== null && (
              <Button variant="default" disabled={set.running} onClick={() => void save(null)}>
                Remove logo
              </Button>
            )}
          </Group>
        )}
      </Stack>
    </Card>
  );
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
