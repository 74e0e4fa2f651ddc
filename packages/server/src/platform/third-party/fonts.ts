// The fonts of a PDF.

const families = [
	'noto-sans/*/NotoSans_*',
	'noto-sans-arabic/*/NotoSansArabic_*',
	'noto-sans-sc/*/NotoSansSC_*',
	'noto-sans-kr/*/NotoSansKR_*',
]

/** As files, of which Typst reads what it uses: the whole of them is 35 MB. */
export const fontFiles = families.flatMap((family) =>
	['400Regular', '700Bold'].map((weight) => `@expo-google-fonts/${family.replaceAll('*', weight)}.ttf`),
)
