// The files of Swagger UI that are served, and no others. The script names its licences as the file beside it.

export const script = 'text/javascript; charset=utf-8'
export const sheet = 'text/css; charset=utf-8'
const text = 'text/plain; charset=utf-8'

export const swaggerFiles: Readonly<Record<string, string>> = {
	'swagger-ui-bundle.js': script,
	'swagger-ui-bundle.js.LICENSE.txt': text,
	'swagger-ui.css': sheet,
	LICENSE: text,
	NOTICE: text,
}
