// What the documents say about making and installing the packages, run as it stands there: with npm, which asks the registry for each
// package that a command has forgotten.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { root, versionOf } from './folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-documents-'))

/** The commands of a document that are about the packages, with its folders inside `folder`. */
const commandsOf = (document: string): string =>
	[...readFileSync(join(root, document), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
		.flatMap(([, code = '']) => (/tarballs|tgz|--no-install/.test(code) ? [code] : []))
		.join('')
		.replace(/^git clone .*\n/m, '')
		.replace(/^cd remit$/m, `cd ${root}`)
		.replaceAll('/tmp/remit', join(folder, 'tarballs'))
		.replaceAll('/opt/remit-server', join(folder, 'server'))

function run(document: string, cwd: string, commands = commandsOf(document)): void {
	const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
	const printed = execFileSync('bash', ['-euo', 'pipefail', '-c', commands], {
		cwd,
		env: { ...process.env, PATH },
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'inherit'],
	})
	if (!printed.includes(`\n${versionOf('server')}\n`))
		throw new Error(`${document}: remit does not run:\n${commands}\n${printed}`)
}

try {
	run('docs/guides/production.md', root)
	// Its second and third commands are for the folder of an application, its first ones for the clone.
	const [make = '', use = ''] = commandsOf('docs/guides/packages.md').split(/(?<=tarballs .*\n)/)
	const application = join(folder, 'application')
	mkdirSync(application)
	run('docs/guides/packages.md', application, `(${make})\nnpm init --yes >${join(folder, 'init')}\n${use}`)
	console.log('the packages install as the documents say, and run')
} finally {
	rmSync(folder, { recursive: true, force: true })
}
