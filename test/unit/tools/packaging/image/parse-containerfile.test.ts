import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseImageConfig } from '../../../../../tools/packaging/image/parse-containerfile.ts';

const containerfile = `# A comment.
FROM base AS build
USER 1
RUN make
FROM other
LABEL a.title="A title" \\
      a.licenses="MIT"
WORKDIR /app
COPY --from=build /src/dist /app
ENV A=b
USER 2:3
EXPOSE 80 81
ENTRYPOINT ["/bin/a", "--b"]
CMD ["c"]
`;

test('the configuration of the image is that of the last stage', () => {
  assert.deepEqual(parseImageConfig(containerfile), {
    User: '2:3',
    WorkingDir: '/app',
    Env: ['A=b'],
    Entrypoint: ['/bin/a', '--b'],
    Cmd: ['c'],
    ExposedPorts: { '80/tcp': {}, '81/tcp': {} },
    Labels: { 'a.title': 'A title', 'a.licenses': 'MIT' },
  });
  assert.throws(() => parseImageConfig(containerfile.replace('USER 2:3\n', '')), /must have one USER/);
});
