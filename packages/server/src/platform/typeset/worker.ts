// A process that sets invoices with Typst, one after the other: a compilation blocks it.
import { join } from 'node:path'
import { NodeCompiler, PdfStandard } from '@myriaddreamin/typst-ts-node-compiler'
import type { InvoiceDocument } from '../../generated/contract.ts'
import { defaultAccent, fitted } from '../rendering/brand.ts'
import { wordsOf } from '../rendering/words/languages.ts'
import { thirdPartyFile } from '../third-party/files.ts'
import { fontFiles } from '../third-party/fonts.ts'
import { pageInputs } from './page.ts'
import { printable } from './printable.ts'
import type { RenderAnswer, RenderRequest } from './process.ts'

const compiler = NodeCompiler.create({ workspace: import.meta.dirname, fontArgs: [{ fontPaths: fontFiles.map(thirdPartyFile) }] })
const mainFilePath = join(import.meta.dirname, 'invoice.typ')

/** Typst drops cached results that this many renders have not used: it keeps the template and fonts, but no old invoices. */
const cachedRenders = 1

process.on('message', (request: RenderRequest) => {
	process.send?.(answer(request))
	compiler.evictCache(cachedRenders)
})

const ready: RenderAnswer = { ready: true }
process.send?.(ready)

// It ends with the server's process, and not before: a terminal signals both.
process.on('disconnect', () => process.exit())
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})

function answer({ document, createdAt }: RenderRequest): RenderAnswer {
	try {
		return { pdf: render(JSON.parse(document), createdAt) }
	} catch (error) {
		return { error: error instanceof Error ? error.message : String(error) }
	}
}

/** In millimetres. */
const logoBox = { width: 70, height: 18 }

/** A file of the compiler that is only in memory. */
const logoFile = join(import.meta.dirname, 'logo')

/**
 * Compiles until no character lacks a font: a mark and its letter may be in fonts of which none has both. It ends, because each round
 * replaces at least one more character.
 */
function render({ brand, ...document }: InvoiceDocument, createdAt: number): Uint8Array {
	const missing = new Set<string>()
	const logo = brand?.logo
	if (logo) compiler.mapShadow(logoFile, Buffer.from(logo.data, 'base64'))
	const inputs = {
		...pageInputs(document.locale),
		words: JSON.stringify(wordsOf(document.language)),
		accent: brand?.accentColor ?? defaultAccent,
		logo: JSON.stringify(logo ? { ...fitted(logo, logoBox), format: logo.format.replace('jpeg', 'jpg') } : null),
	}
	for (;;) {
		const compiled = compile({ ...inputs, document: printable(document, missing) })
		try {
			return compiler.pdf(compiled, { pdfStandard: PdfStandard.A_3b, creationTimestamp: Math.floor(createdAt / 1000) })
		} catch (error) {
			const known = missing.size
			for (const glyph of missingGlyphs(error)) missing.add(glyph)
			if (missing.size === known) throw new Error(exportError(error))
		}
	}
}

function compile(inputs: Record<string, string>) {
	const compiled = compiler.compile({ mainFilePath, inputs })
	if (compiled.result) return compiled.result
	const diagnostics = compiled.takeDiagnostics()?.shortDiagnostics ?? []
	throw new Error(`Typst: ${diagnostics.map(({ message }) => message).join('; ')}`)
}

// An export error has its text in `code`, in Rust's debug notation, and an empty message.
const exportError = (error: unknown) => `Typst: ${(error as { code?: string }).code ?? error}`

/** The characters that Typst's error says `could not be displayed`. */
function missingGlyphs(error: unknown): string[] {
	const quoted = [...exportError(error).matchAll(/the text `\\"(.+?)\\"` could not be displayed/gu)].map(([, text = '']) => text)
	return quoted.map((text) => text.replace(/\\+u\{(\p{Hex}+)\}/gu, (_, code) => String.fromCodePoint(Number.parseInt(code, 16))))
}
