// Keeps a changelog: a section a version, the newest first. Sections of other versions are left as they are.
import { type Diff, sections } from './report.ts'

const PREAMBLE = `# Changelog

Each section is written by \`contract-diff\`. Changes of documentation alone are not listed.
`

/** The changelog with the section of the newer document's version, which says how it differs from the older one. */
export function withSection(changelog: string, diff: Diff): string {
	// What a released version changed was written when it was released.
	if (diff.headVersion === diff.baseVersion) return changelog
	const [preamble = PREAMBLE, ...others] = changelog === '' ? [PREAMBLE] : changelog.split(/^(?=## )/m)
	const section = sectionOf(diff)
	const isOwn = (text: string) => headingOf(text) === headingOf(section)
	const at = others.findIndex(isOwn)
	const rest = others.filter((text) => !isOwn(text))
	rest.splice(Math.max(at, 0), 0, section)
	return `${[preamble, ...rest].map((text) => text.trimEnd()).join('\n\n')}\n`
}

/** The version, without a date behind it. */
const headingOf = (section: string) => /^## (\S+)/.exec(section)?.[1]

function sectionOf(diff: Diff): string {
	const told = { ...diff, changes: diff.changes.filter(({ level }) => level !== 'docs') }
	const lead =
		diff.verdict === 'none' ? 'Nothing that callers can notice.' : `${diff.verdict === 'breaking' ? 'Breaking' : 'Additive'}.`
	return [`## ${diff.headVersion}`, lead, ...sections(told, '###')].join('\n\n')
}
