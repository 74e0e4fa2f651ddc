// What an editor shows of an SDK: the text at a field, and the type of an error's code.
import { join } from 'node:path'
import compiler from 'typescript'
import type { Sdk } from './clients.ts'

export interface Hover {
	readonly field: string
	readonly text: string
}

export interface Shown {
	readonly hovers: readonly Hover[]
	readonly code: string
}

/** Asks the language service of TypeScript 5.9: the compiler of 7 has no interface for programs. */
export function shownBy(sdk: Sdk, folder: string): Shown {
	const file = join(folder, `${sdk.name.replaceAll(/\W+/g, '')}-hover.mts`)
	const uses = sdk.fields.names.map((name) => `shown.${name}`)
	const content = `${sdk.program}\ndeclare const shown: ${sdk.fields.type}\n${uses.join('\n')}\n`
	const options = {
		module: compiler.ModuleKind.NodeNext,
		moduleResolution: compiler.ModuleResolutionKind.NodeNext,
		target: compiler.ScriptTarget.ES2022,
		strict: true,
		types: [],
	}
	const service = compiler.createLanguageService({
		getCompilationSettings: () => options,
		getScriptFileNames: () => [file],
		getScriptVersion: () => '1',
		getScriptSnapshot: (name) => {
			const text = name === file ? content : compiler.sys.readFile(name)
			return text === undefined ? undefined : compiler.ScriptSnapshot.fromString(text)
		},
		getCurrentDirectory: () => folder,
		getDefaultLibFileName: compiler.getDefaultLibFilePath,
		fileExists: (name) => name === file || compiler.sys.fileExists(name),
		readFile: compiler.sys.readFile,
		readDirectory: compiler.sys.readDirectory,
		directoryExists: compiler.sys.directoryExists,
		getDirectories: compiler.sys.getDirectories,
	})
	const infoAt = (text: string, within: string) => service.getQuickInfoAtPosition(file, content.lastIndexOf(text) + within.length)
	const textAt = (use: string) => {
		const info = infoAt(use, 'shown.')
		const tags = info?.tags?.map(({ text }) => compiler.displayPartsToString(text)) ?? []
		return [compiler.displayPartsToString(info?.documentation), ...tags].join(' ').replaceAll(/\s+/g, ' ').trim()
	}
	const hovers = uses.map((use, at) => ({ field: sdk.fields.names[at] ?? '', text: textAt(use) }))
	const code = compiler.displayPartsToString(infoAt('.code)', '.')?.displayParts)
	return { hovers, code: code.replace(/^\(\w+\) [\s\S]*?code\??: /, '') }
}
