// Stands between a checker that knows no tokens and the server: adds the token, and puts the server's name where the
// checker says ours. Every other name is passed on as it is, so that what the server says to it is still seen.
// node proxy.mjs SERVER_PORT TOKEN_FILE; prints the port it listens at.
import http from "node:http";
import { readFileSync } from "node:fs";

const [port, tokenFile] = [Number(process.argv[2]), process.argv[3]];
const token = readFileSync(tokenFile, "utf8").trim();

const proxy = http.createServer((request, response) => {
  const own = proxy.address().port;
  const ours = new RegExp(`(127\\.0\\.0\\.1|localhost):${own}$`);
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  for (const name of ["host", "origin"]) {
    if (headers[name]) headers[name] = headers[name].replace(ours, `127.0.0.1:${port}`);
  }
  const onward = http.request(
    { host: "127.0.0.1", port, method: request.method, path: request.url, headers, setHost: false },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
});
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
