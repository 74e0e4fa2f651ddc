import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const folder = join(import.meta.dirname, 'config')
const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/scale.md'), 'utf8')

it.each(readdirSync(folder))('docs/guides/scale.md shows %s as the bench runs it', (name) => {
	expect(guide).toContain(`\n${readFileSync(join(folder, name), 'utf8')}\`\`\`\n`)
})
